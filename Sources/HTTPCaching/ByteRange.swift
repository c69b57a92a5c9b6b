package import HTTPTypes

/// The part of a response that a request asks for (RFC 9110 section 14).
package enum ByteRange: Sendable, Hashable {
    case whole
    case part(Range<Int>)
    /// Answered with 416.
    case unsatisfiable

    /// - Parameters:
    ///   - fields: of the request.
    ///   - length: of the whole body, in bytes.
    package init(_ fields: HTTPFields, of response: StoredResponse, length: Int) {
        self = .whole
        guard let text = fields[.range], Self.ifRangeHolds(fields, for: response) else { return }
        self.init(text, length: length)
    }

    /// Parses a `Range` field (RFC 9110 section 14.2). An invalid one, another unit and several ranges are `whole`.
    package init(_ text: String, length: Int) {
        self = .whole
        let halves = text.split(separator: "=", maxSplits: 1)
        // Several ranges, which few clients send, get the whole body, as an invalid one does (section 14.2).
        guard halves.count == 2, halves[0].lowercased() == "bytes", !halves[1].contains(",") else { return }
        let ends = halves[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " && $0 != "\t" } }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }) else { return }
        if ends[0].isEmpty {
            guard !ends[1].isEmpty else { return }
            let suffix = min(Int(ends[1]) ?? .max, length)
            self = suffix == 0 ? .unsatisfiable : .part((length - suffix)..<length)
        } else {
            let first = Int(ends[0]) ?? .max, last = ends[1].isEmpty ? Int.max : Int(ends[1]) ?? .max
            guard first <= last else { return }
            self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
        }
    }

    /// Whether `If-Range` holds (section 13.1.5). A date must be equal to the letter, and a strong validator.
    private static func ifRangeHolds(_ fields: HTTPFields, for response: StoredResponse) -> Bool {
        guard let condition = fields[.ifRange] else { return true }
        if condition.hasPrefix("\"") { return condition == response.strongTag }
        guard !condition.hasPrefix("W/"), let modified = response.fields[.lastModified], modified == condition,
            let moment = HTTPDate.seconds(modified)
        else { return false }
        return response.freshness.date / 1_000 - moment >= 1
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
