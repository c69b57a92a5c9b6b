/// A pattern in which `*` stands for any text. Matching takes at most the product of both lengths.
package struct Glob: Sendable, Equatable {
    package enum Syntax: Sendable {
        /// `?` stands for any byte, and the pattern must match the whole text.
        case shell
        /// The pattern matches a prefix of the text; a `$` at its end anchors it (RFC 9309 §2.2.3).
        case robots
    }

    private let pattern: [UInt8]
    private let wildcard: UInt8?
    private let isAnchored: Bool

    package init(_ pattern: some Sequence<UInt8>, syntax: Syntax) {
        var pattern = Array(pattern)
        switch syntax {
        case .shell:
            wildcard = UInt8(ascii: "?")
            isAnchored = true
        case .robots:
            wildcard = nil
            isAnchored = pattern.last == UInt8(ascii: "$")
            if isAnchored { pattern.removeLast() }
        }
        self.pattern = pattern
    }

    package func matches(_ text: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // Where the last star stands, and where the text that it matches ends.
        var star: (wanted: Int, end: Int)?
        while true {
            if wanted == pattern.count, !isAnchored || position == text.count { return true }
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                wanted += 1
                star = (wanted, position)
            } else if wanted < pattern.count, position < text.count,
                pattern[wanted] == text[position] || pattern[wanted] == wildcard
            {
                position += 1
                wanted += 1
            } else if let last = star, last.end < text.count {
                star = (last.wanted, last.end + 1)
                (wanted, position) = (last.wanted, last.end + 1)
            } else {
                return false
            }
        }
    }
}
