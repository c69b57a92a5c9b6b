import ImageHeader

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
