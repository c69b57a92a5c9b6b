import Testing

@testable import sleeve

@Suite struct UsageTextTests {
    private static let usage =
        "Usage: sleeve pin [<input> ...] [--album <album> ...] [--host <host>] --to <size> [--log-level <level>] [--all]"

    @Test(arguments: 40...130)
    func `usage fits the width, and no option is parted from its value`(width: Int) {
        let text = UsageText.wrapped("Error: no\n" + Self.usage + "\n  See 'sleeve pin --help'.", to: width)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= width }, "\(text)")
        #expect(lines.first == "Error: no" && lines.last == "  See 'sleeve pin --help'.")
        let words = lines.dropFirst().dropLast().joined(separator: " ").split(separator: " ")
        #expect(words.joined(separator: " ") == Self.usage)
        for part in ["[<input> ...]", "[--album <album> ...]", "--to <size>", "[--log-level <level>]"] {
            #expect(lines.contains { $0.contains(part) }, "\(part) in \(text)")
        }
        #expect(lines[2..<max(2, lines.count - 1)].allSatisfy { $0.hasPrefix("         ") }, "\(text)")
    }

    @Test func `other lines stay as they are`() {
        let text = "Error: " + String(repeating: "long ", count: 40) + "\n\n  indented"
        #expect(UsageText.wrapped(text, to: 80) == text)
    }
}
