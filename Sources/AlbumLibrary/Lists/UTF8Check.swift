/// Finds text that is not UTF-8 (RFC 3629), such as Latin-1 from a spreadsheet or an old editor.
enum UTF8Check {
    /// The offset of the first byte that is not part of a UTF-8 sequence; nil if all are.
    static func firstInvalidOffset(_ bytes: UnsafeRawBufferPointer) -> Int? {
        // Most lists are ASCII: eight bytes at a time.
        var start = 0
        while start + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            start += 8
        }
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes[start...].makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar): start += scalar.count
            case .emptyInput: return nil
            case .error: return start
            }
        }
    }

    /// What the byte at `offset` means, and how to convert the file.
    static func message(_ bytes: UnsafeRawBufferPointer, at offset: Int, in file: String) -> String {
        let name = file == "stdin" ? "FILE" : file
        return "the text is not UTF-8 (\(Byte.name(bytes[offset]))); if it is Latin-1, convert it: "
            + "iconv -f LATIN1 -t UTF-8 \(name) > NEW"
    }
}
