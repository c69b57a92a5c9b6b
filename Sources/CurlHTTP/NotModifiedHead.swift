#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The head of a 304 that says nothing but what a cache keeps (RFC 9110 section 15.4.5), as nearly all do.
enum NotModifiedHead {
    /// Adds the kept fields to `lines`, as `name: value` each. What is unusual about a head, or asks for something to be done, is
    /// `PlainHead`'s to read.
    /// - Returns: the length of the head; 0: it is another one, or not whole, and nothing was added.
    static func read(_ bytes: UnsafeRawBufferPointer, into lines: inout [UInt8]) -> Int {
        guard bytes.count > 13, starts(bytes, with: "HTTP/1.1 304 ") else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 10, alignment: 1) { buffer in
            var kept = Kept(buffer: buffer)
            let length = read(bytes, &kept)
            if length > 0 { lines.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<kept.count])) }
            return length
        }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ kept: inout Kept) -> Int {
        var position = 13
        guard line(bytes, &position) != nil else { return 0 }
        while let line = line(bytes, &position) {
            if line.isEmpty { return position }
            guard kept.take(line) else { return 0 }
        }
        return 0
    }

    private static func starts(_ bytes: UnsafeRawBufferPointer, with text: StaticString) -> Bool {
        memcmp(bytes.baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// The line at `position`, without its end. Nil: it is not whole, or holds what is not printable ASCII.
    @inline(__always)
    private static func line(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> UnsafeRawBufferPointer? {
        guard let base = bytes.baseAddress, let found = memchr(base + position, 0x0A, bytes.count - position) else {
            return nil
        }
        let end = base.distance(to: found) - 1
        guard end >= position, bytes[end] == UInt8(ascii: "\r") else { return nil }
        defer { position = end + 2 }
        let line = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
        return isPrintable(line) ? line : nil
    }

    /// Eight at a time: there is nothing else to be done with most of them.
    private static func isPrintable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var (place, odd): (Int, UInt64) = (0, 0)
        while place + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // The high bit of a byte below 0x20, of one that is 0x7F, and of one above.
            odd |= (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101) | word
            place += 8
        }
        for byte in bytes[place...] where byte < 0x20 || byte > 0x7E { return false }
        return odd & 0x8080_8080_8080_8080 == 0
    }

    /// What is kept of the lines.
    private struct Kept {
        let buffer: UnsafeMutableRawBufferPointer
        private(set) var count = 0
        /// A bit for each field.
        private var seen: UInt8 = 0

        init(buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

        /// Takes a line; false when there is more about it than to be kept.
        @inline(__always)
        mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
            guard let base = line.baseAddress, let found = memchr(base, 0x3A, line.count) else { return false }
            let colon = base.distance(to: found)
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            var (start, end) = (colon + 1, line.count)
            while start < end, line[start] == 0x20 { start += 1 }
            while end > start, line[end - 1] == 0x20 { end -= 1 }
            let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
            switch colon {
            case 3 where ResponseFields.are(name, "Age"): return keep("age: ", value, 1)
            case 4 where ResponseFields.are(name, "ETag"): return keep("etag: ", value, 2)
            case 4 where ResponseFields.are(name, "Date"): return keep("date: ", value, 4)
            case 4 where ResponseFields.are(name, "Vary"): return keep("vary: ", value, 8)
            case 7 where ResponseFields.are(name, "Expires"): return keep("expires: ", value, 16)
            case 13 where ResponseFields.are(name, "Last-Modified"): return keep("last-modified: ", value, 32)
            case 13 where ResponseFields.are(name, "Cache-Control"): return keep("cache-control: ", value, 64)
            // Those it has besides, nearly always.
            case 6 where ResponseFields.are(name, "Server"): return true
            case 10 where ResponseFields.are(name, "Connection"): return ResponseFields.are(value, "keep-alive")
            case 14 where ResponseFields.are(name, "Content-Length"):
                return notes(128) && PlainHead.number(value[...]) != nil
            default: return isHarmless(name)
            }
        }

        /// Whether it is a field that nobody here does anything about.
        private func isHarmless(_ name: UnsafeRawBufferPointer) -> Bool {
            !name.isEmpty && !name.contains(0x20) && !ResponseFields.asksForMore(name)
        }

        /// False: it was there already.
        private mutating func notes(_ bit: UInt8) -> Bool {
            defer { seen |= bit }
            return seen & bit == 0
        }

        /// False: it is there already, or empty, or longer than usual.
        private mutating func keep(_ name: StaticString, _ value: UnsafeRawBufferPointer, _ bit: UInt8) -> Bool {
            let start = count + name.utf8CodeUnitCount
            guard notes(bit), let text = value.baseAddress, !value.isEmpty, start + value.count < buffer.count,
                let place = buffer.baseAddress
            else { return false }
            memcpy(place + count, name.utf8Start, name.utf8CodeUnitCount)
            memcpy(place + start, text, value.count)
            buffer[start + value.count] = UInt8(ascii: "\n")
            count = start + value.count + 1
            return true
        }
    }
}
