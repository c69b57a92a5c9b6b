import CoverFetch
import Foundation
import HTTPCaching
import Platform
import Testing

@testable import CoverCache
@testable import CoverLibrary

@Suite struct RefreshSelectionTests {
    /// Milliseconds.
    private static let day: Int64 = 86_400_000
    private let now: Int64 = 1_000 * day

    private func entry(_ change: (inout CachedEntry) -> Void = { _ in }) -> CachedEntry {
        let metadata = EntryMetadata(
            key: "https://a.example/1.jpg", mediaType: "image/jpeg", storedAt: now - 10 * Self.day)
        var entry = CachedEntry(
            line: EntryLine(metadata, Digest(of: []), bytes: 0), lastUsed: 0, row: EntryRow(id: 1, cover: 1))
        change(&entry)
        return entry
    }

    private func isDue(_ entry: CachedEntry, _ change: (inout RefreshRequest) -> Void = { _ in }) throws -> Bool {
        var request = RefreshRequest()
        change(&request)
        return try RefreshSelection(request, now: now).isDue(entry)
    }

    @Test func `an entry is due when it is stale or has no freshness lifetime`() throws {
        #expect(try isDue(entry()))
        #expect(try isDue(entry { $0.line.metadata.freshUntil = now }))
        #expect(try !isDue(entry { $0.line.metadata.freshUntil = now + 1 }))
    }

    @Test func `by age, an entry is due when its last validation is older than the age, fresh or not`() throws {
        let fresh = entry { $0.line.metadata.freshUntil = now + 1 }
        #expect(try isDue(fresh) { $0.scope = .olderThan(.seconds(9 * 86_400)) })
        #expect(try !isDue(fresh) { $0.scope = .olderThan(.seconds(10 * 86_400)) })
        #expect(try !isDue(entry()) { $0.scope = .olderThan(.seconds(11 * 86_400)) })
        #expect(try isDue(fresh) { $0.scope = .all })
    }

    @Test func `any age, any date and any number among the fields of an entry is one that can be compared`() throws {
        for age in [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(9_300_000_000_000_000), .zero] {
            #expect(try isDue(entry()) { $0.scope = .olderThan(age) } == (age < .seconds(86_400)))
        }
        for number in [Int64.min, -1, Int64.max] {
            for value in [
                "\(number)", "\(number) \(number) \(number)", "\(number) \(number) \(number) \(number) \(number)",
                "\(number) \(number) \(number) \(number) 403",
            ] {
                let tried = entry { $0.line.metadata.fields = "tried at: \(value)\n" }
                _ = try RefreshSelection(RefreshRequest(), now: now).priority(of: tried, clock: 0)
                let failing = try #require(EntryAnnotation.failures(in: tried.metadata.fields))
                #expect([failing.last, failing.first, Int64(failing.count)].allSatisfy { (0...1 << 48).contains($0) })
                #expect((0...3).contains(failing.answers))
            }
        }
        let listing = CoverListing(entry { $0.line.metadata.freshUntil = now + 1 })
        for time in [Double.infinity, .greatestFiniteMagnitude, 1e300] {
            #expect(listing.isStale(at: Date(timeIntervalSince1970: time)))
        }
        for time in [-Double.infinity, .nan, -1e300] { _ = listing.isStale(at: Date(timeIntervalSince1970: time)) }
    }

    @Test func `an entry that was validated with a wrong clock is due, however fresh it claims to be, and comes first`()
        throws
    {
        let ahead = entry {
            ($0.line.metadata.storedAt, $0.line.metadata.validatedAt, $0.line.metadata.freshUntil) = (
                now + 1, now + 1, now + 9 * 365 * Self.day
            )
            $0.line.metadata.fields = "cache-control: max-age=1, immutable\n"
        }
        for scope in [RefreshRequest.Scope.stale, .olderThan(.seconds(86_400)), .all] {
            #expect(try isDue(ahead) { $0.scope = scope })
        }
        let selection = try RefreshSelection(RefreshRequest(), now: now)
        #expect(selection.priority(of: ahead, clock: 0) >= selection.priority(of: entry(), clock: 0))
        let tried = entry {
            $0.line.metadata.fields = EntryAnnotation.failing(.init(last: now + Self.day, first: now)).line
        }
        #expect(selection.priority(of: tried, clock: 0) == selection.priority(of: entry(), clock: 0))
    }

    @Test func `RFC 8246 §2: an immutable entry is not due while it is fresh`() throws {
        let immutable = entry {
            $0.line.metadata.fields = "cache-control: max-age=1, immutable\n"
            $0.line.metadata.freshUntil = now + 1
        }
        #expect(try !isDue(immutable) { $0.scope = .all })
        #expect(try !isDue(immutable) { $0.scope = .olderThan(.zero) })
        #expect(try isDue(entry { $0.line.metadata.fields = "cache-control: max-age=1, immutable\n" }))
    }

    @Test(arguments: [
        ("*", true), ("https://a.example/*", true), ("*.jpg", true), ("*/1.???", true), ("*a*1*", true),
        ("a.example", false), ("*.png", false), ("https://a.example/?", false), ("", false), ("**jpg**", true),
        ("https://a.example/1.jpg", true), ("*?https*", false),
    ])
    func `a pattern matches the whole URL; * stands for any text, ? for any character`(text: String, matches: Bool)
        throws
    {
        #expect(try isDue(entry()) { $0.selection = .matching(CoverFilter(pattern: text)) } == matches)
    }

    @Test func `a pattern with many stars is rejected in polynomial time`() {
        let glob = Glob(String(repeating: "a*", count: 500) + "b")
        #expect(!glob.matches(Array(repeating: UInt8(ascii: "a"), count: 5_000)))
    }

    @Test func `an entry that was validated longer ago, changes more often, or was used last has a higher priority`()
        throws
    {
        let selection = try RefreshSelection(RefreshRequest(), now: now)
        func priority(_ change: (inout CachedEntry) -> Void = { _ in }) -> Double {
            selection.priority(of: entry(change), clock: 100)
        }
        #expect(
            priority {
                $0.line.metadata.validatedAt = now - 20 * Self.day; $0.line.metadata.storedAt = $0.validatedAt
            } > priority())
        #expect(
            priority { $0.line.metadata.fields = "last-modified: \(HTTPDate.text((now - 500 * Self.day) / 1_000))\n" }
                < priority {
                    $0.line.metadata.fields = "last-modified: \(HTTPDate.text((now - 12 * Self.day) / 1_000))\n"
                })
        #expect(priority { $0.lastUsed = 100 } > priority { $0.lastUsed = 50 })
        #expect(priority { $0.line.metadata.validatedAt = now } == 0)
    }

    @Test func `an entry whose server failed within a day comes after all others`() throws {
        let selection = try RefreshSelection(RefreshRequest(), now: now)
        let unlikely = selection.priority(of: entry { $0.line.metadata.validatedAt = now }, clock: 1)
        let failed = selection.priority(
            of: entry {
                $0.line.metadata.fields = "tried at: \(now - 1)\n"; $0.lastUsed = 1
            }, clock: 1)
        #expect(failed < unlikely)
        #expect(
            selection.priority(of: entry { $0.line.metadata.fields = "tried at: \(now - Self.day)\n" }, clock: 1)
                > unlikely)
    }
}
