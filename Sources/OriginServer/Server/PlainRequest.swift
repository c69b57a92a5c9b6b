import NIOCore

/// A request that needs no thought.
struct PlainRequest: Equatable {
    let number: Int
    /// In milliseconds; nil: as the options say.
    let delay: Int?

    private static let start = Array("GET /covers/".utf8)
    private static let suffix = Array(".jpg".utf8)
    private static let query = Array("?delay=".utf8)
    private static let end = Array(" HTTP/1.1\r\n".utf8)
    /// Fields that change nothing about the answer, lower case.
    private static let harmless = ["host", "user-agent", "accept", "accept-encoding", "accept-language"]
        .map { Array($0.utf8) }

    /// Takes one request off the front of `buffer`; nil: it is not plain, or not whole, and the buffer is as it was.
    init?(consuming buffer: inout ByteBuffer) {
        let parsed = buffer.withUnsafeReadableBytes { Self.parse($0) }
        guard let parsed else { return nil }
        number = parsed.number
        delay = parsed.delay
        buffer.moveReaderIndex(forwardBy: parsed.length)
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> (number: Int, delay: Int?, length: Int)? {
        guard bytes.starts(with: start) else { return nil }
        var place = start.count
        // Eighteen digits fit into an integer.
        guard let number = whole(bytes, &place, digits: 18), bytes[place...].starts(with: suffix) else { return nil }
        place += suffix.count
        var delay: Int?
        if bytes[place...].starts(with: query) {
            place += query.count
            // Seven are less than a day, the most `Wishes` takes.
            delay = whole(bytes, &place, digits: 7)
            if delay == nil { return nil }
        }
        guard bytes[place...].starts(with: end) else { return nil }
        place += end.count
        while place + 1 < bytes.count {
            if bytes[place] == 0x0D, bytes[place + 1] == 0x0A { return (number, delay, place + 2) }
            guard let next = harmlessLine(bytes, from: place) else { return nil }
            place = next
        }
        return nil
    }

    /// A number without a leading zero, of at most so many digits; what follows them is for the caller to judge.
    private static func whole(_ bytes: UnsafeRawBufferPointer, _ place: inout Int, digits: Int) -> Int? {
        let start = place
        var number = 0
        while place < bytes.count, place < start + digits, case 0x30...0x39 = bytes[place] {
            number = number * 10 + Int(bytes[place] - 0x30)
            place += 1
        }
        let count = place - start
        return count == 0 || count > 1 && bytes[start] == 0x30 ? nil : number
    }

    /// The place after a line with a harmless field; nil: it has another one, or does not end here.
    private static func harmlessLine(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var colon = start
        while colon < bytes.count, bytes[colon] != 0x3A, bytes[colon] != 0x0A { colon += 1 }
        let name = bytes[start..<colon]
        let isHarmless = harmless.contains { known in
            known.count == name.count && zip(known, name).allSatisfy { $0 == $1 | 0x20 }
        }
        guard isHarmless else { return nil }
        var end = colon
        while end + 1 < bytes.count {
            if bytes[end] == 0x0D { return bytes[end + 1] == 0x0A ? end + 2 : nil }
            // A line end of another kind is for a real parser to judge.
            if bytes[end] == 0x0A { return nil }
            end += 1
        }
        return nil
    }
}
