package import HTTPTypes

/// What a client asks of the bytes of a whole response (RFC 9110 §14).
package enum ByteRange: Sendable, Hashable {
    case whole
    case part(Range<Int>)
    /// 416.
    case unsatisfiable

    /// - Parameter length: of the whole, in bytes.
    package init(_ fields: HTTPFields, of response: StoredResponse, length: Int) {
        self = .whole
        guard let text = fields[.range], Self.isMeant(fields, for: response) else { return }
        let halves = text.split(separator: "=", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return }
        // Several parts at once: a server may send the whole (§14.2), and few clients ask.
        guard !halves[1].contains(",") else { return }
        let ends = halves[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " && $0 != "\t" } }
        // What is no range is passed over (§14.2).
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

    /// `If-Range` (§13.1.5): a part is of use to the client only while the whole is the one it has a part of. A date must be
    /// the same to the letter, and old enough to tell.
    private static func isMeant(_ fields: HTTPFields, for response: StoredResponse) -> Bool {
        guard let condition = fields[.ifRange] else { return true }
        if condition.hasPrefix("\"") { return condition == response.strongTag }
        guard !condition.hasPrefix("W/"), let modified = response.fields[.lastModified], modified == condition,
            let moment = HTTPDate.seconds(modified)
        else { return false }
        return response.date / 1_000 - moment >= 1
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
