import CPictures
import Platform
import Testing

@testable import CoverSizes

/// The pixels of a picture, read or to be written.
struct Pixels {
    var width, height: Int
    /// Red, green and blue.
    private(set) var values: [[UInt8]]
    private(set) var isGrey = false

    init(width: Int, height: Int, _ value: (_ x: Int, _ y: Int) -> [UInt8]) {
        (self.width, self.height) = (width, height)
        values = (0..<width * height).map { value($0 % width, $0 / width) }
    }

    /// The pixels of a JPEG in its own size.
    init(jpeg: [UInt8]) throws {
        var picture = sleeve_picture()
        defer { sleeve_free_picture(&picture) }
        let code = sleeve_read_jpeg(
            jpeg, jpeg.count, sleeve_reduction(longest: 10_000, maximum_pixels: 1 << 30, maximum_side: 65_535), &picture
        )
        try #require(code == Int32(sleeve_picture_read))
        let pixels = try #require(picture.pixels)
        self.init(width: Int(picture.width), height: Int(picture.height)) { [width = Int(picture.width)] x, y in
            (0..<3).map { pixels[(y * width + x) * 4 + $0] }
        }
        isGrey = picture.is_grey
    }

    subscript(x: Int, y: Int) -> [UInt8] { values[y * width + x] }

    /// A baseline JPEG of these pixels.
    func jpeg(isGrey: Bool = false, profile: [UInt8] = []) throws -> [UInt8] {
        var picture = sleeve_picture()
        (picture.width, picture.height, picture.is_grey) = (UInt32(width), UInt32(height), isGrey)
        var bytes: [UInt8] = values.flatMap { $0 + [0] as [UInt8] }
        var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        let isWritten = bytes.withUnsafeMutableBufferPointer { buffer in
            picture.pixels = buffer.baseAddress
            return sleeve_write_jpeg(&picture, 95, profile.isEmpty ? nil : profile, profile.count, &start, &count)
        }
        defer { free(start) }
        try #require(isWritten)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether a pixel has about this colour.
    func has(_ color: [UInt8], _ x: Int, _ y: Int, within tolerance: Int = 12) -> Bool {
        zip(self[x, y], color).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }
}

let (red, blue, green, white): ([UInt8], [UInt8], [UInt8], [UInt8]) = (
    [255, 0, 0], [0, 0, 255], [0, 128, 0], [255, 255, 255]
)

extension SmallPicture {
    static func reduce(_ bytes: [UInt8], to longest: Int) -> Reduction {
        bytes.withUnsafeBytes { reduce($0, to: longest) }
    }
}

extension Reduction {
    /// The picture that was made.
    func made(sourceLocation: SourceLocation = #_sourceLocation) throws -> SmallPicture {
        guard case .made(let picture) = self else {
            Issue.record("\(self)", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        return picture
    }

    /// Why none was made.
    var reason: Reason? { if case .original(let reason) = self { reason } else { nil } }
}

/// A JPEG with another segment after its start.
func inserting(_ marker: UInt8, _ data: [UInt8], into jpeg: [UInt8]) -> [UInt8] {
    let length = data.count + 2
    return jpeg[..<2] + [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + data + jpeg[2...]
}

/// Exif metadata with an orientation, in either byte order.
func exif(_ orientation: UInt8, isLittle: Bool = false) -> [UInt8] {
    isLittle
        ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
}
