package import HTTPTypes

/// What had come of a body when its transfer broke, to go on from.
package struct PartialBody: Sendable, Hashable {
    package let body: ResponseBody
    /// Of the response it is of.
    package let fields: HTTPFields

    package static func == (left: PartialBody, right: PartialBody) -> Bool { left.body === right.body }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(body)) }

    /// Less is not worth going on from, in bytes.
    static let smallest = 64 << 10
}

/// Going on with a body (RFC 9110 section 14): the rest comes as a 206, unless there is another body by now.
struct Resumption {
    let body: ResponseBody
    /// The rest is coming.
    private(set) var isUnderWay = false
    /// It said that it would come, and another part did.
    private(set) var isMisplaced = false
    private var whole: Int?

    init(_ body: ResponseBody) { self.body = body }

    /// Looks at the `Content-Range` of a 206. False: it is not the part that is missing.
    mutating func begin(_ contentRange: String?) -> Bool {
        guard let (first, whole) = Self.parse(contentRange ?? ""), first == body.count else {
            isMisplaced = true
            return false
        }
        (isUnderWay, self.whole) = (true, whole)
        return true
    }

    /// Whether the body is as long as was announced.
    var isComplete: Bool { whole.map { $0 == body.count } ?? true }

    /// `bytes 500-999/1000`; the last may be `*`.
    static func parse(_ text: String) -> (first: Int, whole: Int?)? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = halves.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard halves.count == 2, ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), first <= last
        else { return nil }
        if halves[1] == "*" { return (first, nil) }
        guard let whole = Int(halves[1]), last == whole - 1 else { return nil }
        return (first, whole)
    }
}
