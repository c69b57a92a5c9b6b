import HTTPTypes

/// What a request's conditions and range make of a 200 (RFC 9110, 13 and 14).
enum Selection: Equatable {
    case whole
    case notModified
    case part(Range<Int>)
    case unsatisfiable

    init(_ fields: HTTPFields, tag: String, modified: Int, length: Int) {
        // Most requests have no condition; one pass over the fields says so.
        if Self.isUnmodified(fields, tag: tag, modified: modified) {
            self = .notModified
        } else if let range = fields[.range], Self.mayBePart(fields, tag: tag, modified: modified) {
            self = Self.part(of: length, range)
        } else {
            self = .whole
        }
    }

    /// `If-None-Match` decides alone when it is there; otherwise `If-Modified-Since`.
    private static func isUnmodified(_ fields: HTTPFields, tag: String, modified: Int) -> Bool {
        if let tags = fields[.ifNoneMatch] {
            if tags == "*" { return true }
            return tags.split(separator: ",").contains { candidate in
                let trimmed = candidate.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
                let text = String(trimmed)
                // The comparison is the weak one: a weak tag matches the strong one it was made from.
                return text == tag || text == "W/" + tag
            }
        }
        if let since = fields[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) { return modified <= since }
        return false
    }

    /// A range counts only when there is no `If-Range`, or it names exactly these bytes.
    private static func mayBePart(_ fields: HTTPFields, tag: String, modified: Int) -> Bool {
        guard let condition = fields[.ifRange] else { return true }
        return condition == tag || HTTPDate.seconds(condition) == modified
    }

    /// One range of bytes. Several, or another unit, are answered with everything, as a server may.
    private static func part(of length: Int, _ range: String) -> Selection {
        guard range.hasPrefix("bytes="), !range.contains(",") else { return .whole }
        let ends = range.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (Int(ends[0]), Int(ends[1])) {
        case (nil, let count?) where ends[0].isEmpty && count >= 0:
            return count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let first?, nil) where ends[1].isEmpty && first >= 0:
            return first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?) where first >= 0 && first <= last:
            return first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default:
            return .whole
        }
    }
}
