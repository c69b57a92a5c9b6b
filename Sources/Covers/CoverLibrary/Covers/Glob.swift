/// A shell pattern: `*` stands for any text, `?` for any byte. Matching takes at most the product of both lengths.
struct Glob: Sendable {
    private let pattern: [UInt8]

    init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

    func matches(_ text: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // Where the last star stands, and where the text that it matches ends.
        var star: (wanted: Int, end: Int)?
        while true {
            if wanted == pattern.count, position == text.count { return true }
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                wanted += 1
                star = (wanted, position)
            } else if wanted < pattern.count, position < text.count,
                pattern[wanted] == text[position] || pattern[wanted] == UInt8(ascii: "?")
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
