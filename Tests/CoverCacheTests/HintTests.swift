import SQLite
import Testing

@testable import CoverCache

@Suite struct HintTests {
    private static let now: Int64 = 1_700_000_000_000

    /// A change that sets a hint which expires `time` milliseconds after `now`.
    private func set(_ kind: Hint.Kind, _ key: String, _ value: String, for time: Int64 = 1_000) -> HintChange {
        .set(Hint(kind, key, value, until: Self.now + time))
    }

    private func values(_ reader: CacheReader, _ kind: Hint.Kind, _ keys: [String], at now: Int64 = now) throws
        -> [String?]
    {
        try reader.hints(kind, for: keys, now: now).map { $0?.value }
    }

    @Test func `hints are found by kind and key until they expire or are removed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                writer.record(
                    [
                        set(.absent, url(1), "404"), set(.absent, url(2), "410", for: 5_000),
                        set(.moved, url(1), url(9)), set(.host, "http://covers.example", "h"),
                    ], now: Self.now)
                #expect(try values(reader, .absent, [url(1)]) == [nil], "not before it is written")
                try writer.writeDeferred()
                #expect(try values(reader, .absent, [url(1), url(3), url(2)]) == ["404", nil, "410"])
                #expect(try values(reader, .moved, [url(2), url(1)]) == [nil, url(9)])
                #expect(try values(reader, .host, ["http://covers.example"]) == ["h"])
                #expect(try values(reader, .absent, [url(1), url(2)], at: Self.now + 1_000) == [nil, "410"])
                writer.record([.remove(.absent, key: url(2)), set(.moved, url(1), url(8))], now: Self.now)
                try writer.writeDeferred()
                #expect(try values(reader, .absent, [url(1), url(2)]) == ["404", nil])
                #expect(try values(reader, .moved, [url(1)]) == [url(8)], "the last change counts")
            }
        }
    }

    @Test func `a hint that expires years ahead was set by a wrong clock, and is ignored`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let month: Int64 = 30 * 86_400_000
                writer.record(
                    [
                        set(.absent, url(1), "404", for: month + 1),
                        set(.host, "http://a.example", "h", for: month + 1),
                        set(.absent, url(2), "404", for: month),
                    ], now: Self.now)
                try writer.writeDeferred()
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [url(1), url(2)]) == [nil, "404"])
                #expect(try reader.hints(.host, now: Self.now).isEmpty)
            }
        }
    }

    @Test func `storing a cover removes its absent hint in the same commit`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                writer.record([set(.absent, url(1), "404"), set(.absent, url(2), "404")], now: Self.now)
                try writer.writeDeferred()
                try writer.store(url(1), picture(1))
                #expect(try values(folder.reader(), .absent, [url(1), url(2)]) == [nil, "404"])
            }
        }
    }

    @Test func `an index without the table has no hints for readers, and the next writer creates the table`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.connection.execute("DROP TABLE remembered")
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [url(1)]) == [nil])
                #expect(try reader.bytes(url(1)) == picture(1))
            }
            try folder.written { writer in
                writer.record([set(.absent, url(2), "404")], now: Self.now)
                try writer.writeDeferred()
                let version = try writer.connection.userVersion()
                #expect(version == IndexFile.version)
            }
            #expect(try values(folder.reader(), .absent, [url(2)]) == ["404"])
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `a sweep removes expired hints, and those beyond the maximum that expire first`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                writer.record((1...10).map { set(.absent, url($0), "404", for: Int64($0)) }, now: Self.now)
                writer.record((1...3).map { set(.moved, url($0), url(9), for: Int64($0)) }, now: Self.now)
                try writer.transaction { state, _ in
                    try writer.writeDeferred(&state)
                    try #require(writer.hints).sweep(now: Self.now + 2, maximumCount: 4)
                }
                let count = { (kind: String) in
                    try writer.connection.integer("SELECT COUNT(*) FROM remembered WHERE kind = '\(kind)'")
                }
                #expect(try count("absent") == 4)
                #expect(try count("moved") == 1)
                let reader = try folder.reader()
                #expect(try values(reader, .absent, (6...7).map(url)) == [nil, "404"])
            }
        }
    }

    @Test func `the first change after opening sweeps, so the table does not grow with every run`() throws {
        try withFolder { folder in
            for number in 0..<5 {
                try folder.written { writer in
                    let now = Self.now + Int64(number) * 10_000
                    writer.record([.set(Hint(.absent, url(number), "404", until: now + 1_000))], now: now)
                }
            }
            try folder.written { writer in
                let count = try writer.connection.integer("SELECT COUNT(*) FROM remembered")
                #expect(count == 1)
            }
        }
    }

    @Test func `hints longer than the maximum are not stored`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let long = url(1) + String(repeating: "x", count: HintTable.maximumLength)
                writer.record([set(.absent, long, "404"), set(.moved, url(1), long)], now: Self.now)
                try writer.writeDeferred()
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [long]) == [nil])
                #expect(try values(reader, .moved, [url(1)]) == [nil])
            }
        }
    }

    @Test func `a rebuild drops the hints and no cover`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                writer.record([set(.absent, url(2), "404")], now: Self.now)
                try writer.writeDeferred()
                #expect(try writer.rebuild() == 1)
            }
            #expect(try values(folder.reader(), .absent, [url(2)]) == [nil])
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }
}
