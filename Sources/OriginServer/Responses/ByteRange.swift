/// The part of a representation that a `Range` field selects (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    /// The field is invalid, has another unit or several ranges: a server may send everything.
    case whole
    case part(Range<Int>)
    case unsatisfiable

    init(_ field: String, length: Int) {
        self = .whole
        guard field.hasPrefix("bytes="), !field.contains(",") else { return }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (nil, let count?) where ends[0].isEmpty && count >= 0:
            self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        case (let first?, nil) where ends[1].isEmpty && first >= 0:
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?) where first >= 0 && first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default: break
        }
    }
}
