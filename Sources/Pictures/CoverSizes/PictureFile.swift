import CPictures
import ImageHeader

/// The bytes of a JPEG, a PNG or a WebP that can be read.
struct PictureFile {
    /// Larger pictures are not read: a file of a few bytes may claim any size. A progressive JPEG takes up to 6 bytes of memory for each of
    /// its pixels, an interlaced PNG 4; other pictures are read row by row.
    static let maximumPixels = 50_000_000
    /// A picture with a longer side, in pixels, is not read either: its rows would be long, whatever their number.
    static let maximumSide = 16_384

    let metadata: PictureMetadata
    let longestSide, pixelCount: Int
    private let bytes: UnsafeRawBufferPointer
    private let read: (UnsafePointer<UInt8>?, Int, sleeve_reduction, UnsafeMutablePointer<sleeve_picture>?) -> Int32

    /// - Parameter bytes: They must outlive the value.
    init(_ bytes: UnsafeRawBufferPointer) throws(Reduction.Reason) {
        guard let header = ImageHeader(bytes) else { throw .format }
        switch header.mediaType {
        case "image/jpeg": read = sleeve_read_jpeg
        case "image/png": read = sleeve_read_png
        case "image/webp": read = sleeve_read_webp
        default: throw .format
        }
        guard let size = header.size else { throw .damaged }
        (longestSide, pixelCount) = (max(size.width, size.height), size.pixelCount)
        if pixelCount > Self.maximumPixels || longestSide > Self.maximumSide { throw .tooLarge }
        metadata = PictureMetadata(bytes, header.mediaType)
        self.bytes = bytes
    }

    /// Its other frames would be lost.
    var isAnimated: Bool { ImageHeader.isAnimated(bytes) }

    /// Hands the pixels to `body`, turned as they are shown. The picture is never enlarged.
    /// - Parameter longest: of the longest side, in pixels; at least 1.
    func reduced<Result>(
        to longest: Int, _ body: (sleeve_picture, PictureMetadata) throws(Reduction.Reason) -> Result
    ) throws(Reduction.Reason) -> Result {
        guard longest > 0 else { throw .format }
        if !ImageHeader.isComplete(bytes) { throw .damaged }
        var picture = sleeve_picture()
        defer { sleeve_free_picture(&picture) }
        let wanted = sleeve_reduction(
            longest: UInt32(clamping: longest), maximum_pixels: UInt64(Self.maximumPixels),
            maximum_side: UInt32(Self.maximumSide))
        switch read(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, wanted, &picture) {
        case Int32(sleeve_picture_read): break
        case Int32(sleeve_picture_too_large): throw .tooLarge
        case Int32(sleeve_picture_unsupported): throw .format
        case Int32(sleeve_picture_out_of_memory): throw .noMemory
        default: throw .damaged
        }
        guard metadata.orientation.turn(&picture) else { throw .noMemory }
        return try body(picture, metadata)
    }
}
