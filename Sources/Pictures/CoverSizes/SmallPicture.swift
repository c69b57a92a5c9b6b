import CPictures
import ImageHeader
import Platform

/// A picture in a smaller size: a baseline JPEG, and the colour that a page paints before it has that.
package struct SmallPicture: Sendable {
    /// The JPEG.
    package var bytes: [UInt8]
    /// In pixels.
    package var width, height: Int
    /// Its dominant colour: red, green and blue, 8 bits each.
    package var color: UInt32
    /// All areas have one colour, or nearly: JPEG changes a value here and there.
    package var isPlain: Bool
}

/// The result of making a picture smaller.
package enum Reduction: Sendable {
    case made(SmallPicture)
    /// The picture has to be used as it is.
    case original(Reason)

    package enum Reason: Error, Hashable {
        /// It is a baseline JPEG of this size already.
        case isSmall
        /// GIF, AVIF, JPEG XL, HEIC, TIFF, BMP, SVG, an animation, or no picture.
        case format
        /// It has more than `PictureFile.maximumPixels`, or `maximumSide`.
        case tooLarge
        /// It cannot be decoded, or its end is missing.
        case damaged
        case noMemory
    }
}

extension SmallPicture {
    /// Of JPEG, as libjpeg counts.
    private static let quality: Int32 = 82

    /// Makes a picture smaller. Blocks, and computes for some milliseconds.
    ///
    /// The result is a baseline JPEG of quality 82 whatever the picture was: turned by its Exif orientation, alpha on white, grey if the
    /// picture was grey, with the ICC profile of a picture that has another than sRGB. Inks (CMYK) become sRGB without their profile. The
    /// picture is never enlarged.
    /// - Parameter longest: of the result's longest side, in pixels.
    package static func reduce(_ bytes: UnsafeRawBufferPointer, to longest: Int) -> Reduction {
        do throws(Reduction.Reason) {
            let file = try PictureFile(bytes)
            // Metadata, or a quality that nothing needs, can make a small picture large.
            let isSmall = file.longestSide <= longest && bytes.count <= file.pixelCount + 16 << 10
            if isSmall, file.metadata.isBaselineJPEG, file.metadata.orientation == .upright { throw .isSmall }
            if file.isAnimated { throw .format }
            return .made(try file.reduced(to: longest, made))
        } catch {
            return .original(error)
        }
    }

    private static func made(
        _ picture: sleeve_picture, _ metadata: PictureMetadata
    ) throws(Reduction.Reason) -> SmallPicture {
        guard let jpeg = written(picture, ColorProfile.kept(picture, metadata.profile)) else { throw .noMemory }
        let (width, height) = (Int(picture.width), Int(picture.height))
        let thumbnail = Thumbnail(width: width, height: height, of: picture.pixels)
        return SmallPicture(
            bytes: jpeg, width: width, height: height, color: thumbnail.dominantColor, isPlain: thumbnail.isPlain)
    }

    private static func written(_ picture: sleeve_picture, _ profile: [UInt8]) -> [UInt8]? {
        var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        defer { free(start) }
        let isWritten = withUnsafePointer(to: picture) { picture in
            profile.withUnsafeBufferPointer { profile in
                sleeve_write_jpeg(
                    picture, quality, profile.isEmpty ? nil : profile.baseAddress, profile.count, &start, &count)
            }
        }
        guard isWritten, let start else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}

/// The ICC profile that a smaller picture keeps.
enum ColorProfile {
    /// The profile, if it describes the reduced pixels; empty for sRGB, which is what pictures without a profile are taken for.
    static func kept(_ picture: sleeve_picture, _ profile: [UInt8]) -> [UInt8] {
        var profile = profile
        if let own = picture.profile { profile = Array(UnsafeBufferPointer(start: own, count: picture.profile_count)) }
        // ICC.1:2022 section 7.2: 128 bytes of header, with the colour space of the data at 16.
        guard !picture.is_converted, profile.count >= 132, profile.count <= maximumLength else { return [] }
        let space = profile[16..<20]
        guard space.elementsEqual((picture.is_grey ? "GRAY" : "RGB ").utf8), !isStandard(profile) else { return [] }
        return profile
    }

    /// In bytes. Profiles with large tables belong to inks.
    private static let maximumLength = 1 << 20

    /// Whether the profile's description names sRGB (section 9.2.41): in ASCII, or in UTF-16.
    private static func isStandard(_ profile: [UInt8]) -> Bool {
        profile.withUnsafeBytes { bytes in
            let view = ByteView(bytes)
            for tag in 0..<min(view.bigEndian(128, 4) ?? 0, 100) {
                let entry = 132 + 12 * tag
                guard view.has("desc", at: entry) else { continue }
                guard let start = view.bigEndian(entry + 4, 4), let length = view.bigEndian(entry + 8, 4),
                    let text = view.part(start, length)
                else { return false }
                return String(decoding: text.bytes.filter { $0 != 0 }, as: UTF8.self).contains("sRGB")
            }
            return false
        }
    }
}
