import Testing

@testable import CoverFetch

@Suite("RFC 9309") struct RobotsRulesTests {
    private func allow(_ target: String, _ text: String) -> Bool {
        RobotsRules(text.utf8, agent: "Sleeve").allow(target.utf8)
    }

    @Test("§2.2.2: the longest match decides; of two equally long ones, allow")
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

    @Test("§2.2.1: groups for the agent precede those for *, ignore case and version, and are combined")
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
        "§2.2.3: * matches any text, $ the end",
        arguments: [
            ("/*.jpg$", "/a/b.jpg", false), ("/*.jpg$", "/a/b.jpg?x", true), ("/*.jpg", "/a/b.jpg?x", false),
            ("/a*b*c", "/a-b-b-c", false), ("/a*b*c", "/a-c-b", true), ("*", "/x", false), ("/$", "/", false),
            ("/$", "/x", true), ("/a$b", "/a$b/", false),
        ])
    func wildcards(pattern: String, target: String, isAllowed: Bool) {
        #expect(allow(target, "User-agent: *\nDisallow: \(pattern)") == isAllowed)
    }

    @Test("§2.2.2: percent-encodings of one path match")
    func encodings() {
        #expect(!allow("/%7Ejoe/%e3%83%84", "User-agent: *\nDisallow: /~joe/ツ"))
        #expect(!allow("/a%3Cd%3E", "User-agent: *\nDisallow: /a%3cd%3e"))
        #expect(allow("/a%2Fb", "User-agent: *\nDisallow: /a/b"))
    }

    @Test("§2.5: lines that are no rules are ignored, and 500 KiB of a file are read")
    func parsing() {
        #expect(!allow("/x", "\u{FEFF}junk\nSitemap: /s\r\nuser-agent : *\r\n  disallow:/x \r\n"))
        let long = "User-agent: *\n" + String(repeating: "#\n", count: 300_000) + "Disallow: /\n"
        #expect(allow("/x", long))
    }

    @Test("a pattern of many stars is matched in the product of the lengths")
    func stars() {
        let pattern = String(repeating: "*a", count: 2_000) + "b$"
        #expect(allow("/" + String(repeating: "a", count: 4_000), "User-agent: *\nDisallow: \(pattern)"))
    }
}
