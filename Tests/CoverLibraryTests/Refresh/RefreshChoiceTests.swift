import Testing

@testable import CoverLibrary
@testable import HTTPCaching

@Suite struct RefreshChoiceTests {
    /// Milliseconds.
    private static let day: Int64 = 86_400_000
    private let now: Int64 = 1_000 * day

    private func entry(_ change: (inout RefreshEntry) -> Void = { _ in }) -> RefreshEntry {
        var entry = RefreshEntry(
            url: "https://a.example/1.jpg", storedAt: now - 10 * Self.day, validatedAt: now - 10 * Self.day)
        change(&entry)
        return entry
    }

    private func isDue(_ entry: RefreshEntry, _ change: (inout RefreshRequest) -> Void = { _ in }) -> Bool {
        var request = RefreshRequest()
        change(&request)
        return RefreshChoice(request, now: now).isDue(entry)
    }

    @Test("what is stale, or never said for how long it is fresh, is due")
    func stale() {
        #expect(isDue(entry()))
        #expect(isDue(entry { $0.freshUntil = now }))
        #expect(!isDue(entry { $0.freshUntil = now + 1 }))
    }

    @Test("by age, what nobody has spoken for in so long is due, fresh or not")
    func olderThan() {
        let fresh = entry { $0.freshUntil = now + 1 }
        #expect(isDue(fresh) { $0.scope = .olderThan(.seconds(9 * 86_400)) })
        #expect(!isDue(fresh) { $0.scope = .olderThan(.seconds(10 * 86_400)) })
        #expect(!isDue(entry()) { $0.scope = .olderThan(.seconds(11 * 86_400)) })
        #expect(isDue(fresh) { $0.scope = .all })
    }

    @Test("RFC 8246 §2: what is immutable is not asked about while it is fresh")
    func immutable() {
        let immutable = entry {
            $0.fields = "cache-control: max-age=1, immutable\n"
            $0.freshUntil = now + 1
        }
        #expect(!isDue(immutable) { $0.scope = .all })
        #expect(!isDue(immutable) { $0.scope = .olderThan(.zero) })
        #expect(isDue(entry { $0.fields = "cache-control: max-age=1, immutable\n" }))
    }

    @Test(
        "a pattern is for the whole URL; * is any text, ? any character",
        arguments: [
            ("*", true), ("https://a.example/*", true), ("*.jpg", true), ("*/1.???", true), ("*a*1*", true),
            ("a.example", false), ("*.png", false), ("https://a.example/?", false), ("", false), ("**jpg**", true),
            ("https://a.example/1.jpg", true), ("*?https*", false),
        ])
    func pattern(text: String, matches: Bool) { #expect(isDue(entry()) { $0.pattern = text } == matches) }

    @Test("a pattern full of stars takes no time to be refused")
    func backtracking() {
        let text = Array(repeating: Character("a"), count: 5_000)
        let pattern = Array(String(repeating: "a*", count: 500) + "b")
        #expect(!RefreshChoice.matches(text, pattern))
    }

    @Test("what was validated longer ago, changes more often, or was used last is worth more")
    func worth() {
        let choice = RefreshChoice(RefreshRequest(), now: now)
        func worth(_ change: (inout RefreshEntry) -> Void = { _ in }) -> Double {
            choice.worth(entry(change), clock: 100)
        }
        #expect(
            worth {
                $0.validatedAt = now - 20 * Self.day; $0.storedAt = $0.validatedAt
            } > worth())
        #expect(
            worth { $0.fields = "last-modified: \(HTTPDate.text((now - 500 * Self.day) / 1_000))\n" }
                < worth { $0.fields = "last-modified: \(HTTPDate.text((now - 12 * Self.day) / 1_000))\n" })
        #expect(worth { $0.lastUsed = 100 } > worth { $0.lastUsed = 50 })
        #expect(worth { $0.validatedAt = now } == 0)
    }

    @Test("one whose server failed within the day comes after all others")
    func failed() {
        let choice = RefreshChoice(RefreshRequest(), now: now)
        let unlikely = choice.worth(entry { $0.validatedAt = now }, clock: 1)
        let failed = choice.worth(
            entry {
                $0.fields = "tried at: \(now - 1)\n"; $0.lastUsed = 1
            }, clock: 1)
        #expect(failed < unlikely)
        #expect(choice.worth(entry { $0.fields = "tried at: \(now - Self.day)\n" }, clock: 1) > unlikely)
    }
}
