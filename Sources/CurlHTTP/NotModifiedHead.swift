/// The head of a 304 that says nothing but what a cache keeps (RFC 9110 section 15.4.5), as nearly all do.
enum NotModifiedHead {
    /// Adds the kept fields to `lines`, as `name: value` each. What is unusual about a head, or asks for something to be done, is
    /// `PlainHead`'s to read.
    /// - Returns: the length of the head; 0: it is another one, or not whole, and nothing was added.
    static func read(_ bytes: UnsafeRawBufferPointer, into lines: inout [UInt8]) -> Int {
        let before = lines.count
        let length = readLines(bytes, &lines)
        if length == 0 { lines.removeLast(lines.count - before) }
        return length
    }

    private static func readLines(_ bytes: UnsafeRawBufferPointer, _ lines: inout [UInt8]) -> Int {
        let status: StaticString = "HTTP/1.1 304 "
        guard bytes.count > 13, starts(bytes, with: status) else { return 0 }
        var position = 13
        guard let end = endOfLine(bytes, &position), end >= 13 else { return 0 }
        var seen: UInt8 = 0
        while true {
            let start = position
            guard let end = endOfLine(bytes, &position) else { return 0 }
            if end == start { return position }
            guard take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), &lines, &seen) else { return 0 }
        }
    }

    private static func starts(_ bytes: UnsafeRawBufferPointer, with text: StaticString) -> Bool {
        for index in 0..<text.utf8CodeUnitCount where bytes[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Nil: the line is not whole, or holds what is not printable ASCII.
    @inline(__always)
    private static func endOfLine(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Int? {
        var place = position
        while place + 1 < bytes.count {
            let byte = bytes[place]
            if byte < 0x20 || byte > 0x7E {
                guard byte == UInt8(ascii: "\r"), bytes[place + 1] == UInt8(ascii: "\n") else { return nil }
                position = place + 2
                return place
            }
            place += 1
        }
        return nil
    }

    /// Takes a line; false when there is more about it than to be kept.
    private static func take(_ line: UnsafeRawBufferPointer, _ lines: inout [UInt8], _ seen: inout UInt8) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        switch colon {
        case 3 where ResponseFields.are(name, "Age"): return keep(line, "age: ", 1, &lines, &seen)
        case 4 where ResponseFields.are(name, "ETag"): return keep(line, "etag: ", 2, &lines, &seen)
        case 4 where ResponseFields.are(name, "Date"): return keep(line, "date: ", 4, &lines, &seen)
        case 4 where ResponseFields.are(name, "Vary"): return keep(line, "vary: ", 8, &lines, &seen)
        case 7 where ResponseFields.are(name, "Expires"): return keep(line, "expires: ", 16, &lines, &seen)
        case 13 where ResponseFields.are(name, "Last-Modified"):
            return keep(line, "last-modified: ", 32, &lines, &seen)
        case 13 where ResponseFields.are(name, "Cache-Control"):
            return keep(line, "cache-control: ", 64, &lines, &seen)
        // Those it has besides, nearly always.
        case 6 where ResponseFields.are(name, "Server"): return true
        case 10 where ResponseFields.are(name, "Connection"):
            return ResponseFields.are(value(line, colon), "keep-alive")
        case 12 where ResponseFields.are(name, "Content-Type"): return true
        default: return isHarmless(name, value(line, colon))
        }
    }

    /// Whether it is a field that nobody here does anything about.
    private static func isHarmless(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        if name.isEmpty || name.contains(where: { $0 <= 0x20 }) { return false }
        if ResponseFields.are(name, "Content-Length") { return PlainHead.number(value[...]) != nil }
        return ResponseFields.number(of: name) == nil && !ResponseFields.are(name, "Location")
            && !ResponseFields.are(name, "Transfer-Encoding")
    }

    /// False: it is there already, or empty.
    private static func keep(
        _ line: UnsafeRawBufferPointer, _ name: StaticString, _ bit: UInt8, _ lines: inout [UInt8], _ seen: inout UInt8
    ) -> Bool {
        let value = value(line, name.utf8CodeUnitCount - 2)
        if seen & bit != 0 || value.isEmpty { return false }
        seen |= bit
        lines.append(contentsOf: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        lines.append(contentsOf: value)
        lines.append(UInt8(ascii: "\n"))
        return true
    }

    /// What follows the colon, without the blanks around it.
    private static func value(_ line: UnsafeRawBufferPointer, _ colon: Int) -> UnsafeRawBufferPointer {
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start] == 0x20 { start += 1 }
        while end > start, line[end - 1] == 0x20 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }
}
