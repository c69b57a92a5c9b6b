import SQLite
import Testing

@testable import CoverCache

@Suite struct HintTests {
    private static let now: Int64 = 1_700_000_000_000

    /// A change that sets a hint which expires `time` milliseconds after `now`.
    private func set(_ kind: Hint.Kind, _ key: String, _ value: String, for time: Int64 = 1_000) -> HintChange {
        .set(Hint(kind, key, value, until: Self.now + time))
    }

    private func write(_ changes: [HintChange], _ writer: CacheWriter) throws {
        writer.add(hints: changes, now: Self.now)
        try writer.writeDeferred()
    }

    private func values(
        _ reader: CacheReader, _ kind: Hint.Kind, _ keys: [String], at now: Int64 = now
    ) throws -> [String?] {
        try reader.hints(kind, for: keys, now: now).map { $0?.value }
    }

    @Test func `hints are found by kind and key until they expire or are removed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                writer.add(
                    hints: [
                        set(.absent, url(1), "404"), set(.absent, url(2), "410", for: 5_000),
                        set(.closed, "http://covers.example", "h"),
                    ], now: Self.now)
                #expect(try values(reader, .absent, [url(1)]) == [nil], "not before it is written")
                try writer.writeDeferred()
                #expect(try values(reader, .absent, [url(1), url(3), url(2)]) == ["404", nil, "410"])
                #expect(try reader.hints(.closed, now: Self.now).map(\.value) == ["h"])
                #expect(try values(reader, .absent, [url(1), url(2)], at: Self.now + 1_000) == [nil, "410"])
                try write([.remove(.absent, key: url(2)), set(.absent, url(1), "410")], writer)
                #expect(try values(reader, .absent, [url(1), url(2)]) == ["410", nil], "the last change counts")
            }
        }
    }

    @Test func `a hint that expires years ahead was set by a wrong clock, and is ignored`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let month: Int64 = 30 * 86_400_000
                try write(
                    [
                        set(.absent, url(1), "404", for: month + 1),
                        set(.closed, "http://a.example", "h", for: month + 1),
                        set(.absent, url(2), "404", for: month),
                    ], writer)
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [url(1), url(2)]) == [nil, "404"])
                #expect(try reader.hints(.closed, now: Self.now).isEmpty)
            }
        }
    }

    @Test func `storing a cover removes its absent hint in the same commit`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try write([set(.absent, url(1), "404"), set(.absent, url(2), "404")], writer)
                try writer.store(url(1), picture(1))
                #expect(try values(folder.reader(), .absent, [url(1), url(2)]) == [nil, "404"])
            }
        }
    }

    @Test func `a sweep removes expired hints, and those beyond the maximum that expire first`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try write((1...10).map { set(.absent, url($0), "404", for: Int64($0)) }, writer)
                try write((1...3).map { set(.closed, url($0), "h", for: Int64($0)) }, writer)
                try writer.index.transaction { _ in try writer.index.hints.sweep(now: Self.now + 2, maximumCount: 4) }
                let reader = try folder.reader()
                #expect(try reader.hints(.absent, now: Self.now).count == 4)
                #expect(try reader.hints(.closed, now: Self.now).count == 1)
                #expect(try values(reader, .absent, (6...7).map(url)) == [nil, "404"])
            }
        }
    }

    @Test func `the first change after opening sweeps, so the table does not grow with every run`() throws {
        try withFolder { folder in
            for number in 0..<5 {
                try folder.written { writer in
                    let now = Self.now + Int64(number) * 10_000
                    writer.add(hints: [.set(Hint(.absent, url(number), "404", until: now + 1_000))], now: now)
                }
            }
            try folder.written { writer in
                let count = try writer.index.connection.integer("SELECT COUNT(*) FROM hints")
                #expect(count == 1)
            }
        }
    }

    @Test func `hints longer than the maximum are not stored`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let long = url(1) + String(repeating: "x", count: HintTable.maximumLength)
                try write([set(.absent, long, "404"), set(.absent, url(1), long)], writer)
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [long, url(1)]) == [nil, nil])
            }
        }
    }

    @Test func `a rebuild drops the hints and no cover`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try write([set(.absent, url(2), "404")], writer)
            }
            try folder.deleteIndex()
            try folder.expect(pictures([1]))
            #expect(try values(folder.reader(), .absent, [url(2)]) == [nil])
        }
    }
}
