/// Text of a small file in the encoding that its first bytes say: UTF-8, UTF-16 or Latin-1.
enum DecodedText {
    /// Whether the bytes begin an XML document in UTF-16.
    static func isUTF16XML(_ bytes: UnsafeRawBufferPointer) -> Bool {
        [[0xFF, 0xFE, 0x3C, 0], [0xFE, 0xFF, 0, 0x3C], [0x3C, 0, 0x3F, 0], [0, 0x3C, 0, 0x3F]].contains {
            bytes.starts(with: $0 as [UInt8])
        }
    }

    /// The bytes of an XML document in UTF-8, without a byte order mark (XML 1.0, appendix F). What is no text in the encoding becomes
    /// U+FFFD. Line feeds stay in their lines.
    static func utf8(ofXML bytes: UnsafeRawBufferPointer) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return repaired(bytes.dropFirst(3)) }
        if isUTF16XML(bytes) {
            let isMarked = bytes[0] >= 0xFE
            let isBig = bytes[0] == 0xFE || bytes[0] == 0
            let start = isMarked ? 2 : 0
            let units = (0..<((bytes.count - start) / 2)).map { index in
                let unit = bytes.loadUnaligned(fromByteOffset: start + 2 * index, as: UInt16.self)
                return isBig ? UInt16(bigEndian: unit) : UInt16(littleEndian: unit)
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }
        let head = String(decoding: bytes.prefix(200), as: UTF8.self).lowercased().prefix { $0 != ">" }
        let isLatin1 = ["iso-8859-1", "latin1", "latin-1", "windows-1252"].contains { head.contains($0) }
        guard head.hasPrefix("<?xml"), isLatin1 else { return repaired(bytes[...]) }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return Array(String(scalars).utf8)
    }

    private static func repaired(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
}
