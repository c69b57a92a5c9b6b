import Testing

@testable import sleeve

@Suite struct UsageTextTests {
    private static let usage =
        "USAGE: sleeve cache pin [<input> ...] [--album <album> ...] [--host <host>] --to <size> [--log-level <level>] [-q]"

    @Test func `a usage that does not fit names the arguments and the options that are needed`() {
        let text = "OVERVIEW: Pin\n\(Self.usage)\n\nOPTIONS:"
        #expect(UsageText.shortened(text, to: Self.usage.count) == text)
        #expect(
            UsageText.shortened(text, to: 80)
                == "OVERVIEW: Pin\nUSAGE: sleeve cache pin [<input> ...] --to <size> [<options>]\n\nOPTIONS:")
    }

    @Test func `other lines stay as they are`() {
        let text = "Error: " + String(repeating: "long [-x] ", count: 40) + "\n\n  indented"
        #expect(UsageText.shortened(text, to: 80) == text)
    }

    @Test func `a message is one line`() {
        #expect(UsageText.line("no\n   or: else.\nOne of:\n  - a\n  - b") == "no or: else. One of: a b")
    }
}
