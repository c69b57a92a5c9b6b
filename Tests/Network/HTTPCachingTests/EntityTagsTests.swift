import HTTPCaching
import Testing

/// RFC 9110 section 13.1.2: If-None-Match.
@Suite struct EntityTagsTests {
    @Test(arguments: [
        ([#""a""#], #""a""#, true), ([#"W/"a""#], #""a""#, true), ([#""a""#], #"W/"a""#, true),
        ([#""b" , W/"a","#], #""a""#, true), ([#""b""#, #""a""#], #""a""#, true), (["*"], #""a""#, true),
        ([#""a,b""#], #""a,b""#, true), ([#""a,b""#], #""a""#, false), ([#""b""#], #""a""#, false),
        (["a"], #""a""#, false), ([#""*""#], #""a""#, false), ([""], #""a""#, false),
    ])
    func `tags are compared weakly, one by one, over several lines`(lines: [String], tag: String, isSame: Bool) {
        #expect(EntityTags(lines).contains(tag) == isSame)
    }
}
