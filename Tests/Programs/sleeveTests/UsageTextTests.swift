import Testing

@testable import sleeve

@Suite struct UsageTextTests {
    private static let usage =
        "Usage: sleeve pin [<input> ...] [--album <album> ...] [--host <host>] --to <size> [--log-level <level>] [-q]"

    @Test func `a usage that does not fit names the arguments and the options that are needed`() {
        let text = "Error: no\n\(Self.usage)\n  See 'sleeve pin --help'."
        #expect(UsageText.shortened(text, to: Self.usage.count) == text)
        #expect(
            UsageText.shortened(text, to: 80)
                == "Error: no\nUsage: sleeve pin [<input> ...] --to <size> [<options>]\n  See 'sleeve pin --help'.")
    }

    @Test func `other lines stay as they are`() {
        let text = "Error: " + String(repeating: "long [-x] ", count: 40) + "\n\n  indented"
        #expect(UsageText.shortened(text, to: 80) == text)
    }
}
