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

    package enum Reason: Sendable, Hashable {
        /// It is a baseline JPEG of this size already.
        case isSmall
        /// GIF, AVIF, JPEG XL, HEIC, TIFF, BMP, SVG, an animation, or no picture.
        case format
        /// It has more than `SmallPicture.maximumPixels`, or `maximumSide`.
        case tooLarge
        /// It cannot be decoded, or its end is missing.
        case damaged
        case noMemory
    }
}

extension SmallPicture {
    /// Larger pictures are not read: a file of a few bytes may claim any size. A progressive JPEG takes up to 6 bytes of memory for each of
    /// its pixels, an interlaced PNG 4; other pictures are read row by row.
    package static let maximumPixels = 50_000_000
    /// A picture with a longer side, in pixels, is not read either: its rows would be long, whatever their number.
    package static let maximumSide = 16_384
    /// Of JPEG, as libjpeg counts.
    private static let quality: Int32 = 82

    /// Makes a picture smaller. Blocks, and computes for some milliseconds.
    ///
    /// The result is a baseline JPEG of quality 82 whatever the picture was: turned by its Exif orientation, alpha on white, grey if the
    /// picture was grey, with the ICC profile of a picture that has another than sRGB. Inks (CMYK) become sRGB without their profile. The
    /// picture is never enlarged.
    /// - Parameter longest: of the result's longest side, in pixels.
    package static func reduce(_ bytes: UnsafeRawBufferPointer, to longest: Int) -> Reduction {
        let read: (UnsafePointer<UInt8>?, Int, sleeve_reduction, UnsafeMutablePointer<sleeve_picture>?) -> Int32
        guard longest > 0, let header = ImageHeader(bytes) else { return .original(.format) }
        switch header.mediaType {
        case "image/jpeg": read = sleeve_read_jpeg
        case "image/png": read = sleeve_read_png
        case "image/webp": read = sleeve_read_webp
        default: return .original(.format)
        }
        guard let size = header.size else { return .original(.damaged) }
        let longestSide = max(size.width, size.height)
        if size.pixelCount > maximumPixels || longestSide > maximumSide { return .original(.tooLarge) }
        let metadata = PictureMetadata(bytes, header.mediaType)
        // Metadata, or a quality that nothing needs, can make a small picture large.
        let isSmall = longestSide <= longest && bytes.count <= size.pixelCount + 16 << 10
        if isSmall, metadata.isBaselineJPEG, metadata.orientation == .upright { return .original(.isSmall) }
        if !ImageHeader.isComplete(bytes) { return .original(.damaged) }

        var picture = sleeve_picture()
        defer { sleeve_free_picture(&picture) }
        let wanted = sleeve_reduction(
            longest: UInt32(clamping: longest), maximum_pixels: UInt64(maximumPixels), maximum_side: UInt32(maximumSide)
        )
        switch read(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, wanted, &picture) {
        case Int32(sleeve_picture_read): break
        case Int32(sleeve_picture_too_large): return .original(.tooLarge)
        case Int32(sleeve_picture_unsupported): return .original(.format)
        case Int32(sleeve_picture_out_of_memory): return .original(.noMemory)
        default: return .original(.damaged)
        }
        guard metadata.orientation.turn(&picture) else { return .original(.noMemory) }
        let profile = ColorProfile.kept(picture, metadata.profile)
        guard let jpeg = written(picture, profile) else { return .original(.noMemory) }
        let (smallWidth, smallHeight) = (Int(picture.width), Int(picture.height))
        let thumbnail = Thumbnail(width: smallWidth, height: smallHeight, of: picture.pixels)
        return .made(
            SmallPicture(
                bytes: jpeg, width: smallWidth, height: smallHeight, color: thumbnail.dominantColor,
                isPlain: thumbnail.isPlain))
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
