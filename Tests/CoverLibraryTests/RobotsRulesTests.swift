import Testing

@testable import CoverLibrary

@Suite("RFC 9309") struct RobotsRulesTests {
    private func allow(_ target: String, _ text: String) -> Bool {
        RobotsRules(text.utf8, agent: "Sleeve").allow(target.utf8)
    }

    @Test("§2.2.2: the longest match decides, and allow of two as long")
    func longest() {
        let text = """
            User-agent: *
            Disallow: /covers/
            Allow: /covers/front
            Disallow: /same
            Allow: /same
            """
        #expect(!allow("/covers/1.jpg", text))
        #expect(allow("/covers/front/1.jpg", text))
        #expect(allow("/same", text))
        #expect(allow("/elsewhere", text))
    }

    @Test("§2.2.1: our own group goes before that for everybody, whatever the case and the version, and groups add up")
    func groups() {
        let text = """
            User-agent: *
            Disallow: /

            User-Agent: other
            user-agent: SLEEVE/2.0
            Disallow: /a # not this

            User-agent: sleeve
            Disallow: /b
            """
        #expect(allow("/c", text))
        #expect(!allow("/a", text))
        #expect(!allow("/b", text))
        #expect(!allow("/c", "User-agent: *\nDisallow: /"))
        #expect(allow("/c", "User-agent: other\nDisallow: /"))
        #expect(allow("/c", "User-agent: *\nDisallow: /\nUser-agent: sleeve\nDisallow:"))
    }

    @Test(
        "§2.2.3: a star is any text, a dollar sign the end",
        arguments: [
            ("/*.jpg$", "/a/b.jpg", false), ("/*.jpg$", "/a/b.jpg?x", true), ("/*.jpg", "/a/b.jpg?x", false),
            ("/a*b*c", "/a-b-b-c", false), ("/a*b*c", "/a-c-b", true), ("*", "/x", false), ("/$", "/", false),
            ("/$", "/x", true), ("/a$b", "/a$b/", false),
        ])
    func wildcards(pattern: String, target: String, isAllowed: Bool) {
        #expect(allow(target, "User-agent: *\nDisallow: \(pattern)") == isAllowed)
    }

    @Test("§2.2.2: a path is the same however it is percent-encoded")
    func encodings() {
        #expect(!allow("/%7Ejoe/%e3%83%84", "User-agent: *\nDisallow: /~joe/ツ"))
        #expect(!allow("/a%3Cd%3E", "User-agent: *\nDisallow: /a%3cd%3e"))
        #expect(allow("/a%2Fb", "User-agent: *\nDisallow: /a/b"))
    }

    @Test("§2.5: what is no rule is passed over, and a long file is read to 500 KiB")
    func parsing() {
        #expect(!allow("/x", "\u{FEFF}junk\nSitemap: /s\r\nuser-agent : *\r\n  disallow:/x \r\n"))
        let long = "User-agent: *\n" + String(repeating: "#\n", count: 300_000) + "Disallow: /\n"
        #expect(allow("/x", long))
    }

    @Test("a pattern of many stars takes no longer than its length times that of the path")
    func stars() {
        let pattern = String(repeating: "*a", count: 2_000) + "b$"
        #expect(allow("/" + String(repeating: "a", count: 4_000), "User-agent: *\nDisallow: \(pattern)"))
    }
}
