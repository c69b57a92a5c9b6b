import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite("RFC 9111 §4.1: Vary") struct VaryTests {
    @Test("a response answers requests whose named fields are equal, except for white space and lines")
    func matching() {
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

    @Test(
        "language tags, codings and character sets match in any case (RFC 9110 §8.4.1, §8.5.1); other fields do not"
    )
    func anyCase() {
        #expect(
            Vary.matches(
                ["Accept-Language"], stored: [.acceptLanguage: "de, EN"], request: [.acceptLanguage: "DE, en"]))
        #expect(!Vary.matches(["Cookie"], stored: [.cookie: "a"], request: [.cookie: "A"]))
    }

    @Test("* matches no request", arguments: ["*", "Accept, *", " * "])
    func star(vary: String) { #expect(!Vary.matches([vary], stored: [:], request: [:])) }
}
