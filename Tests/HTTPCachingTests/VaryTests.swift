import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 4.1: Vary.
@Suite struct VaryTests {
    @Test func `a response answers requests whose named fields are equal, except for white space and lines`() {
        let accept = HTTPField.Name("Accept")!
        #expect(Vary.matches(["Accept"], stored: [accept: "a,  b"], request: [accept: "a, b"]))
        #expect(!Vary.matches(["ACCEPT"], stored: [accept: "a"], request: [accept: "b"]))
        #expect(!Vary.matches(["accept"], stored: [:], request: [accept: "b"]))
        #expect(Vary.matches(["accept, foo", "bar"], stored: [accept: "a"], request: [accept: "a"]))
        #expect(Vary.matches([], stored: [accept: "a"], request: [:]))
        var lines = HTTPFields()
        lines.append(HTTPField(name: accept, value: "a"))
        lines.append(HTTPField(name: accept, value: "b"))
        #expect(Vary.matches(["accept"], stored: lines, request: [accept: "a,b"]))
    }

    @Test
    func `language tags, codings and character sets match in any case (RFC 9110 §8.4.1, §8.5.1); other fields do not`()
    {
        #expect(
            Vary.matches(
                ["Accept-Language"], stored: [.acceptLanguage: "de, EN"], request: [.acceptLanguage: "DE, en"]))
        #expect(!Vary.matches(["Cookie"], stored: [.cookie: "a"], request: [.cookie: "A"]))
    }

    @Test(arguments: ["*", "Accept, *", " * "])
    func `* matches no request`(vary: String) { #expect(!Vary.matches([vary], stored: [:], request: [:])) }
}
