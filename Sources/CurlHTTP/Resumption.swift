package import HTTPTypes

/// The part of a body that had arrived when its transfer failed.
package struct PartialBody: Sendable, Hashable {
    package let body: [UInt8]
    /// The fields of its response.
    package let fields: HTTPFields

    /// The minimum length in bytes that is worth a resumption.
    static let minimumLength = 64 << 10

    package init(body: [UInt8], fields: HTTPFields) {
        self.body = body
        self.fields = fields
    }
}

/// The continuation of a partial body (RFC 9110 section 14): the rest comes with status 206, unless the body has changed.
struct Resumption {
    let body: [UInt8]
    /// The rest is arriving.
    private(set) var isUnderWay = false
    /// A 206 response contains another part than the rest.
    private(set) var isMisplaced = false
    /// Length of the complete body in bytes; nil if it is unknown.
    private(set) var length: Int?

    init(_ body: [UInt8]) { self.body = body }

    /// Checks the `Content-Range` of a 206 response. - Returns: false if it is not the rest.
    mutating func begin(_ contentRange: String?) -> Bool {
        guard let (first, length) = Self.parse(contentRange ?? ""), first == body.count else {
            isMisplaced = true
            return false
        }
        (isUnderWay, self.length) = (true, length)
        return true
    }

    /// Parses `bytes 500-999/1000`; the complete length may be `*`. - Returns: nil if the range does not reach the end.
    static func parse(_ text: String) -> (first: Int, length: Int?)? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = halves.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard halves.count == 2, ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), first <= last
        else { return nil }
        if halves[1] == "*" { return (first, nil) }
        guard let length = Int(halves[1]), last == length - 1 else { return nil }
        return (first, length)
    }
}
