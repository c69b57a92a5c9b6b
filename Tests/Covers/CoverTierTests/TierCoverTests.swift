import CoverCache
import CoverTier
import Platform
import Testing

struct TierCoverTests {
    private let key = TierKey("https://a.example/1.jpg")

    private func cover(_ body: [UInt8]) -> TierCover {
        TierCover(
            EntryMetadata(key: key.url, mediaType: "image/jpeg", storedAt: 1_764_000_000_000, fields: "etag: \"1\"\n"),
            Digest(of: body), body: body)
    }

    @Test func `a cover that is read back equals the one that was put`() throws {
        let put = cover([1, 2, 3])
        let line = try #require(EntryLine(put.entry.line))
        #expect(try TierCover(line, body: put.body, for: key).entry == put.entry)
    }

    @Test func `a cover with other bytes, fewer bytes or another URL is damaged`() throws {
        let entry = cover([1, 2, 3]).entry
        let others: [([UInt8], TierKey)] = [
            ([1, 2, 4], key), ([1, 2], key), ([1, 2, 3], TierKey("https://a.example/2.jpg")),
        ]
        for (body, key) in others {
            let error = #expect(throws: TierError.self) { try TierCover(entry, body: body, for: key) }
            guard case .damaged = error else {
                Issue.record("\(error.map { "\($0)" } ?? "no error")")
                continue
            }
        }
    }
}
