import HTTPTypes

/// The head of a response on a plain connection, read strictly (RFC 9112 sections 2 to 6).
struct PlainHead {
    enum Reading {
        /// - length: of the head, in bytes.
        case whole(PlainHead, length: Int)
        case incomplete
        /// What is rare, or wrong: interim responses, bodies without a length, folded lines, names and values that are not
        /// quite in order. libcurl is to read it.
        case unusual
    }

    let status: Int
    /// Those a cache needs (see `ResponseFields`), in the order they came.
    let fields: HTTPFields
    /// Of the body, in bytes.
    let bodyLength: Int
    /// Of a redirect, and of nothing else: where it leads, as it was sent.
    let location: String?
    /// Whether another response may follow on the connection (section 9.3).
    let isKeptAlive: Bool

    static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        // `HTTP/1.1 200 OK`
        let version: StaticString = "HTTP/1.1 "
        guard bytes.count > 12 else { return bytes.count < 9 || starts(bytes, version) ? .incomplete : .unusual }
        guard starts(bytes, version), let status = number(bytes[9..<12]), isHandled(status),
            bytes[12] == UInt8(ascii: " ") || bytes[12] == UInt8(ascii: "\r")
        else { return .unusual }
        var position = 12
        // What the status is called says nothing.
        guard let end = endOfLine(bytes, from: &position) else { return .incomplete }
        if end == position { return .unusual }

        var fields = Fields()
        while true {
            let start = position
            guard let end = endOfLine(bytes, from: &position) else { return .incomplete }
            if end == position { return .unusual }
            if end == start { break }
            guard fields.take(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else { return .unusual }
        }
        let hasBody = status != 304
        let isRedirect = hasBody && (300..<400).contains(status)
        guard !hasBody || fields.bodyLength != nil, !isRedirect || fields.location != nil else { return .unusual }
        let head = PlainHead(
            status: status, fields: fields.kept, bodyLength: hasBody ? fields.bodyLength ?? 0 : 0,
            location: isRedirect ? fields.location : nil, isKeptAlive: !fields.closes)
        return .whole(head, length: position)
    }

    /// Final, and what is done about it is not libcurl's to know.
    private static func isHandled(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 301...304, 307, 308, 400..<600: status != 407 && status != 426
        default: false
        }
    }

    /// Where the line at `position` ends, which goes on to the next line; the same place when a character is out of order: a
    /// control character, a line's end without a carriage return, or anything that is not ASCII. Nil: it is not whole.
    private static func endOfLine(_ bytes: UnsafeRawBufferPointer, from position: inout Int) -> Int? {
        var place = position
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "\r") {
                guard place + 1 < bytes.count else { return nil }
                position = bytes[place + 1] == UInt8(ascii: "\n") ? place + 2 : place
                return place
            }
            if (byte < 0x20 && byte != UInt8(ascii: "\t")) || byte > 0x7E {
                position = place
                return place
            }
            place += 1
        }
        return nil
    }

    private static func starts(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return bytes.prefix(wanted.count).elementsEqual(wanted.prefix(bytes.count))
    }

    /// Digits only, few enough not to overflow.
    static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard (1...18).contains(digits.count) else { return nil }
        var value = 0
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(byte & 15)
        }
        return value
    }
}

extension PlainHead {
    private struct Fields {
        var kept = HTTPFields()
        var bodyLength: Int?
        var location: String?
        var closes = false
        /// A bit for each of those that are kept.
        private var seen: UInt = 0

        /// Takes a line; false when it is unusual.
        mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
            // No blank stands before the colon (section 5.1), so that a folded line has no name either.
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
                !line[..<colon].contains(where: { $0 <= 0x20 })
            else { return false }
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 0x09 { value = value.dropFirst() }
            while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            switch colon {
            case 8 where ResponseFields.are(name, "Location"):
                guard location == nil, !value.isEmpty else { return false }
                location = String(decoding: value, as: UTF8.self)
            case 10 where ResponseFields.are(name, "Connection"): return takeConnection(value)
            case 14 where ResponseFields.are(name, "Content-Length"):
                // Two of them are for libcurl to judge (section 6.3).
                guard bodyLength == nil, let length = PlainHead.number(value) else { return false }
                bodyLength = length
            case 17 where ResponseFields.are(name, "Transfer-Encoding"): return false
            default:
                if let number = ResponseFields.number(of: name) { keep(String(decoding: value, as: UTF8.self), number) }
            }
            return true
        }

        /// Options that are not known are of no concern (RFC 9110 section 7.6.1).
        private mutating func takeConnection(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
            for option in value.split(whereSeparator: { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 })
            where ResponseFields.are(UnsafeRawBufferPointer(rebasing: option), "close") { closes = true }
            return true
        }

        /// A field sent several times is joined with commas (RFC 9110 section 5.3).
        private mutating func keep(_ value: String, _ number: Int) {
            let name = ResponseFields.name(number)
            if seen & 1 << number == 0 {
                kept.append(HTTPField(name: name, value: value))
            } else {
                kept[name] = (kept[name] ?? "") + ", " + value
            }
            seen |= 1 << number
        }
    }
}
