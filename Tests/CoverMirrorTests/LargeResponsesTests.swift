import Testing

@testable import CoverMirror

@Suite struct LargeResponsesTests {
    @Test func `the latest URLs are remembered, each once, until they are removed`() {
        var large = LargeResponses(capacity: 2)
        for url in ["a", "b", "a", "b"] { large.insert(url) }
        #expect(large.contains("a") && large.contains("b"))
        large.insert("c")
        #expect(!large.contains("a") && large.contains("b") && large.contains("c"))
        large.remove("b")
        large.insert("d")
        #expect(!large.contains("b") && large.contains("c") && large.contains("d"))
    }
}
