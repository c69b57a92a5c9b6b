extension HTTPURL {
    /// Length of `scheme://host[:port]` if `text` is certainly normalized, as nearly every URL of a list is. Nil if libcurl has to
    /// parse it, which takes fifty times as long.
    static func plainOriginLength(_ text: borrowing String) -> Int? {
        // All accepted bytes are ASCII, so bytes are characters.
        var text = copy text
        return text.withUTF8 { bytes -> Int? in
            guard let start = schemeLength(bytes), let end = hostEnd(bytes, from: start) else { return nil }
            guard end < bytes.count, bytes[end] == UInt8(ascii: "/"), isPlainPath(bytes[end...]) else { return nil }
            return end
        }
    }

    private static func schemeLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        if bytes.starts(with: "http://".utf8) { return 7 }
        return bytes.starts(with: "https://".utf8) ? 8 : nil
    }

    /// The end of the host and of a port that is not a default one. Numbers that libcurl would rewrite are not accepted.
    private static func hostEnd(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var (position, labelStart, numbers, labels) = (start, start, 0, 0)
        func endLabel() -> Bool {
            let label = bytes[labelStart..<position]
            guard let first = label.first else { return false }
            labels += 1
            guard isDigit(first) else { return first != UInt8(ascii: "-") }
            if label.allSatisfy(isDigit), label.count <= 3, label.count == 1 || first != UInt8(ascii: "0") {
                let value = label.reduce(0) { $0 * 10 + Int($1 & 15) }
                if value > 255 { return false }
                numbers += 1
            }
            return true
        }
        while position < bytes.count,
            isLetter(bytes[position]) || isDigit(bytes[position]) || bytes[position] == 45 || bytes[position] == 46
        {
            if bytes[position] == UInt8(ascii: ".") {
                guard endLabel() else { return nil }
                labelStart = position + 1
            }
            position += 1
        }
        guard labelStart < position, endLabel() else { return nil }
        // A last label that begins with a letter is no number in any base. Otherwise the host must be a dotted quad.
        guard isLetter(bytes[labelStart]) || (labels == 4 && numbers == 4) else { return nil }
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { return position }
        let port = bytes[(position + 1)...].prefix(6).prefix(while: isDigit)
        let number = port.reduce(0) { $0 * 10 + Int($1 & 15) }
        guard let first = port.first, first != UInt8(ascii: "0"), number <= 65_535, number != 80, number != 443 else {
            return nil
        }
        return port.endIndex
    }

    /// Whether the path contains only characters that normalization keeps: no dot segments, fragments or percent-encodings.
    private static func isPlainPath(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."): if previous == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: ","),
                UInt8(ascii: "+"):
                break
            default: return false
            }
            previous = byte
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
}
