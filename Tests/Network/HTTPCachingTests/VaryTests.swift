import HTTPCaching
import Testing

/// RFC 9111 section 4.1: Vary.
@Suite struct VaryTests {
    @Test func `names are read from several lines, in lower case, without empty elements`() {
        #expect(Vary.names(["Accept, FOO ,,", "", "*"]) == ["accept", "foo", "*"])
        #expect(Vary.names([]).isEmpty)
    }
}
