import Platform

/// What a picture's file says beside its pixels: how to turn it, and what its colours mean. The bytes are untrusted: every read is
/// bounds-checked, and what is damaged is left out.
struct PictureMetadata {
    private(set) var orientation = Orientation.upright
    /// The ICC profile of a JPEG or a WebP. That of a PNG is compressed: libspng reads it.
    private(set) var profile: [UInt8] = []
    /// A JPEG that every decoder reads: sequential, 8 bits, Huffman codes, grey or colours.
    private(set) var isBaselineJPEG = false

    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer, _ mediaType: String) {
        self.bytes = bytes
        switch mediaType {
        case "image/jpeg": readJPEG()
        case "image/png": readPNG()
        default: readWebP()
        }
    }

    /// Segments (ITU-T T.81 annex B): FF, a marker, and a length that counts itself, up to the first scan.
    private mutating func readJPEG() {
        var parts: [(number: UInt8, bytes: UnsafeRawBufferPointer)] = []
        var offset = 2
        while let start = byte(offset), let marker = byte(offset + 1), start == 0xFF, marker != 0xDA, marker != 0xD9 {
            if marker == 0xFF {
                offset += 1
                continue
            }
            if marker == 0x01 || 0xD0...0xD8 ~= marker {
                offset += 2
                continue
            }
            guard let length = bigEndian(offset + 2, 2), length >= 2, let data = part(offset + 4, length - 2) else {
                break
            }
            switch marker {
            case 0xC0: isBaselineJPEG = data.count > 5 && data[0] == 8 && [1, 3].contains(data[5])
            case 0xE1 where data.starts(with: "Exif\0\0".utf8):
                readExif(UnsafeRawBufferPointer(rebasing: data.dropFirst(6)))
            // ICC.1 annex B.4: the name, the number of the part, from 1, and that of all.
            case 0xE2 where data.starts(with: "ICC_PROFILE\0".utf8) && data.count > 14:
                parts.append((data[12], UnsafeRawBufferPointer(rebasing: data.dropFirst(14))))
            default: break
            }
            offset += 2 + length
        }
        for part in parts.sorted(by: { $0.number < $1.number }) { profile += part.bytes }
    }

    /// Chunks (W3C PNG specification, section 5.3): a length, a type, data, a checksum.
    private mutating func readPNG() {
        var offset = 8
        while let length = bigEndian(offset, 4), let type = part(offset + 4, 4) {
            if type.elementsEqual("eXIf".utf8), let data = part(offset + 8, length) { return readExif(data) }
            offset += 12 + length
        }
    }

    /// Chunks (RFC 9649 section 2.3): a type, a length, data of an even length.
    private mutating func readWebP() {
        var offset = 12
        while let type = part(offset, 4), let length = littleEndian(offset + 4, 4) {
            if let data = part(offset + 8, length) {
                if type.elementsEqual("ICCP".utf8) { profile = Array(data) }
                if type.elementsEqual("EXIF".utf8) { readExif(data) }
            }
            offset += 8 + length + length & 1
        }
    }

    /// Exif is a TIFF file (CIPA DC-008 section 4.5): the tag 0x0112 of its first directory is the orientation.
    private mutating func readExif(_ data: UnsafeRawBufferPointer) {
        let data = data.starts(with: "Exif\0\0".utf8) ? UnsafeRawBufferPointer(rebasing: data.dropFirst(6)) : data
        let isLittle = data.first == UInt8(ascii: "I")
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset <= data.count - count else { return nil }
            let field = data[offset..<offset + count]
            return isLittle ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else { return }
        for entry in 0..<count {
            let offset = directory + 2 + 12 * entry
            guard let tag = number(offset, 2) else { return }
            guard tag == 0x0112, number(offset + 2, 2) == 3 else { continue }
            orientation = number(offset + 8, 2).flatMap { Orientation(rawValue: $0) } ?? .upright
            return
        }
    }

    // MARK: Bytes

    private func byte(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func part(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer? {
        guard offset <= bytes.count, length <= bytes.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    private func bigEndian(_ offset: Int, _ count: Int) -> Int? {
        part(offset, count).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    private func littleEndian(_ offset: Int, _ count: Int) -> Int? {
        part(offset, count).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }
    }
}
