import Testing

@testable import CoverLibrary

@Suite struct LargeBodiesTests {
    @Test("of the URLs that were seen to be large the latest are remembered, each once, until one has become smaller")
    func bounded() {
        var large = LargeBodies(most: 2)
        for url in ["a", "b", "a", "b"] { large.insert(url) }
        #expect(large.contain("a") && large.contain("b"))
        large.insert("c")
        #expect(!large.contain("a") && large.contain("b") && large.contain("c"))
        large.remove("b")
        large.insert("d")
        #expect(!large.contain("b") && large.contain("c") && large.contain("d"))
    }
}
