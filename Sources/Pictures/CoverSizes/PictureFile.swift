import CPictures
import ImageHeader
import Platform

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

/// What a picture's file says beside its pixels: how to turn it, and what its colours mean. The bytes are untrusted: every read is
/// bounds-checked, and what is damaged is left out.
struct PictureMetadata {
    private(set) var orientation = Orientation.upright
    /// The ICC profile of a JPEG or a WebP. That of a PNG is compressed: libspng reads it.
    private(set) var profile: [UInt8] = []
    /// A JPEG that every decoder reads: sequential, 8 bits, Huffman codes, grey or colours.
    private(set) var isBaselineJPEG = false

    init(_ bytes: UnsafeRawBufferPointer, _ mediaType: String) {
        let view = ByteView(bytes)
        switch mediaType {
        case "image/jpeg": readJPEG(view)
        case "image/png": readPNG(view)
        default: readWebP(view)
        }
    }

    private mutating func readJPEG(_ view: ByteView) {
        var parts: [(number: UInt8, bytes: UnsafeRawBufferPointer)] = []
        for segment in JPEGSegments(view) {
            guard let data = view.part(segment.contents.lowerBound, segment.contents.count) else { break }
            switch segment.marker {
            case 0xC0: isBaselineJPEG = data.byte(0) == 8 && (data.byte(5) == 1 || data.byte(5) == 3)
            case 0xE1 where data.has("Exif\0\0", at: 0): readExif(data)
            // ICC.1 annex B.4: the name, the number of the part, from 1, and that of all.
            case 0xE2 where data.has("ICC_PROFILE\0", at: 0):
                if let number = data.byte(12), let part = data.part(14, data.bytes.count - 14) {
                    parts.append((number, part.bytes))
                }
            default: break
            }
        }
        for part in parts.sorted(by: { $0.number < $1.number }) { profile += part.bytes }
    }

    /// Chunks (W3C PNG specification, section 5.3): a length, a type, data, a checksum.
    private mutating func readPNG(_ view: ByteView) {
        var offset = 8
        while let length = view.bigEndian(offset, 4) {
            if view.has("eXIf", at: offset + 4), let data = view.part(offset + 8, length) { return readExif(data) }
            offset += 12 + length
        }
    }

    /// Chunks (RFC 9649 section 2.3): a type, a length, data of an even length.
    private mutating func readWebP(_ view: ByteView) {
        var offset = 12
        while let length = view.littleEndian(offset + 4, 4) {
            if let data = view.part(offset + 8, length) {
                if view.has("ICCP", at: offset) { profile = Array(data.bytes) }
                if view.has("EXIF", at: offset) { readExif(data) }
            }
            offset += 8 + length + length & 1
        }
    }

    /// Exif is a TIFF file (CIPA DC-008 section 4.5), in a JPEG after six bytes: the tag 0x0112 is the orientation.
    private mutating func readExif(_ data: ByteView) {
        let file = data.has("Exif\0\0", at: 0) ? data.part(6, data.bytes.count - 6) : data
        guard let number = file.flatMap({ TIFFDirectory($0)?.number(of: 0x0112) }) else { return }
        orientation = Orientation(rawValue: number) ?? .upright
    }
}

/// Where the first row and the first column of the stored pixels belong (CIPA DC-008 section 4.6.5.1, tag 274).
enum Orientation: Int {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, right, transversed, left

    /// Columns are rows of the stored pixels.
    private var swapsSides: Bool { rawValue > 4 }
    /// The shown picture's columns run from the right of the stored pixels, before the sides are swapped.
    private var isReversed: (columns: Bool, rows: Bool) {
        switch self {
        case .upright, .transposed: (false, false)
        case .mirrored: (true, false)
        case .upsideDown, .transversed: (true, true)
        case .flipped: (false, true)
        case .right: (false, true)
        case .left: (true, false)
        }
    }

    /// Turns a picture as it is shown. - Returns: false if there is no memory.
    func turn(_ picture: inout sleeve_picture) -> Bool {
        if self == .upright { return true }
        let (width, height) = (Int(picture.width), Int(picture.height))
        let length = width * height * MemoryLayout<UInt32>.size
        guard let memory = malloc(length) else { return false }
        let source = UnsafeRawPointer(picture.pixels!).assumingMemoryBound(to: UInt32.self)
        let turned = memory.bindMemory(to: UInt32.self, capacity: width * height)
        var place = 0
        for row in 0..<(swapsSides ? width : height) {
            for column in 0..<(swapsSides ? height : width) {
                var (x, y) = swapsSides ? (row, column) : (column, row)
                if isReversed.columns { x = width - 1 - x }
                if isReversed.rows { y = height - 1 - y }
                turned[place] = source[y * width + x]
                place += 1
            }
        }
        free(picture.pixels)
        picture.pixels = memory.assumingMemoryBound(to: UInt8.self)
        if swapsSides { swap(&picture.width, &picture.height) }
        return true
    }
}
