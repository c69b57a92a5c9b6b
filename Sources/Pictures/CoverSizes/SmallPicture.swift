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

/// At most 32 by 32 pixels, the averages of a picture's areas.
struct Thumbnail {
    private static let side = 32
    /// About how many rows and columns of a larger area count, evenly spaced: the most frequent colour of a picture needs no more.
    private static let samples = 3

    let width, height: Int
    /// In rows.
    let pixels: [SIMD3<Int32>]

    init(width: Int, height: Int, pixels: [SIMD3<Int32>]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// - Parameter source: rows of red, green, blue, and a byte without meaning.
    init(width sourceWidth: Int, height sourceHeight: Int, of source: UnsafePointer<UInt8>) {
        let (width, height) = (min(sourceWidth, Self.side), min(sourceHeight, Self.side))
        func step(_ length: Int, _ count: Int) -> Int { max(1, (length + count / 2) / count) }
        let acrossStep = step(sourceWidth, width * Self.samples)
        let downStep = step(sourceHeight, height * Self.samples)
        var pixels: [SIMD3<Int32>] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            let rows = stride(from: row * sourceHeight / height, to: (row + 1) * sourceHeight / height, by: downStep)
            for column in 0..<width {
                let (first, end) = (column * sourceWidth / width, (column + 1) * sourceWidth / width)
                var (sum, count) = (SIMD3<Int32>(), Int32(0))
                for y in rows {
                    for x in stride(from: first, to: end, by: acrossStep) {
                        let place = source + (y * sourceWidth + x) * 4
                        sum &+= SIMD3(Int32(place[0]), Int32(place[1]), Int32(place[2]))
                        count &+= 1
                    }
                }
                pixels.append((sum &+ SIMD3(repeating: count / 2)) / SIMD3(repeating: count))
            }
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    var isPlain: Bool {
        guard let first = pixels.first else { return false }
        return pixels.allSatisfy { pixel in (0..<3).allSatisfy { abs(pixel[$0] - first[$0]) <= 2 } }
    }

    /// Red, green and blue, 8 bits each: the average of the most frequent kind of colour, of eight steps for each of red, green and blue. An average of all would be a grey
    /// that the picture does not have.
    var dominantColor: UInt32 {
        func kind(_ pixel: SIMD3<Int32>) -> Int { Int((pixel.x >> 5) << 6 | (pixel.y >> 5) << 3 | pixel.z >> 5) }
        var counts = [Int](repeating: 0, count: 512)
        for pixel in pixels { counts[kind(pixel)] += 1 }
        let most = counts.indices.max { counts[$0] < counts[$1] } ?? 0
        let sum = pixels.lazy.filter { kind($0) == most }.reduce(SIMD3<Int32>(), &+)
        let color = sum / SIMD3(repeating: Int32(max(counts[most], 1)))
        return UInt32(color.x) << 16 | UInt32(color.y) << 8 | UInt32(color.z)
    }
}
