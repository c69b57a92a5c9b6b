import ArgumentParser
import CoverLibrary

/// The size of a picture: that of its longest side in pixels, or as it is.
struct PictureSize: ExpressibleByArgument {
    /// Nil for the picture as it is.
    var pixels: Int?

    init?(argument: String) {
        if argument == "full" { return }
        guard let pixels = Int(argument), pixels > 0 else { return nil }
        self.pixels = pixels
    }

    /// The smallest size of the Cover Art Archive that is no smaller.
    var inArchive: CoverSize {
        switch pixels {
        case (...250)?: .pixels250
        case (...500)?: .pixels500
        case (...1_200)?: .pixels1200
        default: .full
        }
    }
}
