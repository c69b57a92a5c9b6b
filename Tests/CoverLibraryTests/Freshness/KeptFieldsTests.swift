import HTTPTypes
import Testing

@testable import CoverCache
@testable import CoverLibrary
@testable import HTTPCaching

@Suite("RFC 9111 §4.3.4: the straight path of a 304") struct KeptFieldsTests {
    /// 2024-01-01 00:00:00 GMT, in milliseconds.
    private static let dawn: Int64 = 1_704_067_200_000

    private func entry(_ fields: String) -> CachedEntry {
        CachedEntry(
            metadata: EntryMetadata(
                key: "https://a.example/1.jpg", mediaType: "image/jpeg", width: 4, height: 3, storedAt: 1_000,
                fields: fields),
            digest: [UInt8]().withUnsafeBytes { Digest(of: $0) }, bytes: 0, validatedAt: 1_000,
            lastUsed: 0, row: EntryRow(id: 1, blob: 1))
    }

    /// What is kept as it is, told apart by name alone.
    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init).sorted() }

    @Test("it comes to what the way through StoredResponse comes to, whatever is stored and told")
    func equality() throws {
        var random = Seeded(state: 0x5EED)
        var straight = 0, refused = 0
        for _ in 0..<5_000 {
            let entry = entry(Self.stored.randomFields(&random).map { "\($0): \($1)\n" }.joined())
            var fields = HTTPFields()
            for (name, value) in Self.told.randomFields(&random) {
                fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            let told = StoredResponse(
                status: 304, fields: fields, requestTime: Self.dawn - .random(in: 0...2_000, using: &random),
                responseTime: Self.dawn)

            let slow = StoredResponse(entry).updated(
                by: told.fields, requestTime: told.requestTime, responseTime: told.responseTime)
            let fast = KeptFields.renewal(of: entry, by: told)
            #expect((slow == nil) == (fast == nil))
            guard let slow, let fast else {
                refused += 1
                continue
            }
            let isSame =
                lines(fast.fields) == lines(slow.keptFields) && fast.freshUntil == slow.knownFreshUntil
                && fast.validatedAt == slow.responseTime
            #expect(isSame, "\(entry.metadata.fields) \(told.fields) \(fast) \(slow)")
            #expect(KeptFields.conditions(of: entry) == StoredResponse(entry).conditions)
            let isUsual = entry.metadata.fields.withBytes { KeptFields($0) != nil }
            if isUsual, told.keptFields.withBytes({ KeptFields($0) != nil }) { straight += 1 }
            if !isSame { return }
        }
        // Neither way is left out.
        #expect((1_000...4_500).contains(straight) && refused > 100, "\(straight), \(refused)")
    }

    @Test("what is not told anew stays, but for the date")
    func rest() throws {
        let entry = entry("etag: \"a\"\ndate: Mon, 01 Jan 2024 00:00:00 GMT\n")
        let told = StoredResponse(
            status: 304, fields: [.cacheControl: "max-age=60"], requestTime: Self.dawn, responseTime: Self.dawn)
        let renewal = try #require(KeptFields.renewal(of: entry, by: told))
        #expect(renewal.key == entry.metadata.key && renewal.row == entry.row && renewal.before == 1_000)
        #expect(renewal.fields == "etag: \"a\"\ncache-control: max-age=60\n")
        #expect(renewal.validatedAt == Self.dawn && renewal.freshUntil == Self.dawn + 60_000)
    }

    // MARK: What may be stored and told

    private static let dates = [
        "Sun, 31 Dec 2023 23:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT", "Tue, 02 Jan 2024 00:00:00 GMT",
        "Sunday, 31-Dec-23 23:59:00 GMT", "Sun Dec 31 23:00:00 2023", "0", "soon",
    ]
    private static let tags = ["\"a\"", "W/\"a\"", "\"b\"", "W/\"b\"", "a", "\"é: ü\""]
    private static let usual: [(String, [String])] = [
        ("etag", tags), ("last-modified", dates), ("date", dates), ("expires", dates),
        ("age", ["5", "7, 3", "x", "0"]),
        ("cache-control", ["max-age=60", "no-cache", "public", "private, max-age=\"9\"", "s-maxage=1", "immutable"]),
        ("vary", ["Accept", "*", "Accept , *,", "a*"]),
    ]
    private static let stored = FieldsSource(usual: usual, other: [("tried at", ["17"]), ("x-a", ["b"])])
    private static let told = FieldsSource(
        usual: usual, other: [("Content-Type", ["text/html"]), ("Retry-After", ["5"]), ("Content-Length", ["0"])])

    private struct FieldsSource {
        var usual: [(String, [String])]
        var other: [(String, [String])]

        /// Some of the usual ones in any order, now and then one of them again, or another.
        func randomFields(_ random: inout Seeded) -> [(String, String)] {
            var fields = usual.filter { _ in .random(using: &random) }.shuffled(using: &random)
            if .random(in: 0..<8, using: &random) == 0 { fields.append(usual.randomElement(using: &random)!) }
            if .random(in: 0..<8, using: &random) == 0 { fields.append(other.randomElement(using: &random)!) }
            return fields.map { ($0.0, $0.1.randomElement(using: &random)!) }
        }
    }

    /// SplitMix64.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }
}
