import GRDB
import Testing

@testable import CoverCache

@Suite struct RememberedTests {
    private static let now: Int64 = 1_700_000_000_000

    private func remember(_ kind: Remembered.Kind, _ key: String, _ value: String, for time: Int64 = 1_000)
        -> MemoryChange
    {
        .remember(Remembered(kind, key, value, until: Self.now + time))
    }

    private func values(_ reader: CacheReader, _ kind: Remembered.Kind, _ keys: [String], at now: Int64 = now) throws
        -> [String?]
    {
        try reader.recall(kind, of: keys, now: now).map { $0?.value }
    }

    @Test("what is remembered is recalled by kind and key until its time, and forgotten when it is to be")
    func recalling() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                writer.note(
                    [
                        remember(.absent, url(1), "404"), remember(.absent, url(2), "410", for: 5_000),
                        remember(.moved, url(1), url(9)), remember(.host, "http://covers.example", "h"),
                    ], now: Self.now)
                #expect(try values(reader, .absent, [url(1)]) == [nil], "not before it is written")
                try writer.writeUsage()
                #expect(try values(reader, .absent, [url(1), url(3), url(2)]) == ["404", nil, "410"])
                #expect(try values(reader, .moved, [url(2), url(1)]) == [nil, url(9)])
                #expect(try values(reader, .host, ["http://covers.example"]) == ["h"])
                #expect(try values(reader, .absent, [url(1), url(2)], at: Self.now + 1_000) == [nil, "410"])
                writer.note([.forget(.absent, url(2)), remember(.moved, url(1), url(8))], now: Self.now)
                try writer.writeUsage()
                #expect(try values(reader, .absent, [url(1), url(2)]) == ["404", nil])
                #expect(try values(reader, .moved, [url(1)]) == [url(8)], "the last word counts")
            }
        }
    }

    @Test("a cover that is stored is absent no more, in the same commit")
    func stored() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                writer.note([remember(.absent, url(1), "404"), remember(.absent, url(2), "404")], now: Self.now)
                try writer.writeUsage()
                try writer.store(url(1), picture(1))
                #expect(try values(folder.reader(), .absent, [url(1), url(2)]) == [nil, "404"])
            }
        }
    }

    @Test("an index of an older program has no such table: readers remember nothing, and the next writer makes it")
    func olderIndex() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.queue.writeWithoutTransaction { try $0.execute(sql: "DROP TABLE remembered") }
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [url(1)]) == [nil])
                #expect(try reader.bytes(url(1)) == picture(1))
            }
            try folder.written { writer in
                writer.note([remember(.absent, url(2), "404")], now: Self.now)
                try writer.writeUsage()
                let version = try writer.queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
                #expect(version == IndexFile.version)
            }
            #expect(try values(folder.reader(), .absent, [url(2)]) == ["404"])
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test("what has ended goes, and of a kind only so many stay, those that end last")
    func bounded() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                writer.note((1...10).map { remember(.absent, url($0), "404", for: Int64($0)) }, now: Self.now)
                writer.note((1...3).map { remember(.moved, url($0), url(9), for: Int64($0)) }, now: Self.now)
                try writer.transaction { state, _ in
                    try writer.writeUsage(&state)
                    try writer.memory.sweep(now: Self.now + 2, most: 4)
                }
                let count = { (kind: String) in
                    try writer.queue.read {
                        try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM remembered WHERE kind = ?", arguments: [kind])
                    }
                }
                #expect(try count("absent") == 4)
                #expect(try count("moved") == 1)
                let reader = try folder.reader()
                #expect(try values(reader, .absent, (6...7).map(url)) == [nil, "404"])
            }
        }
    }

    @Test("remembering sweeps by itself: it does not grow with every run")
    func sweeping() throws {
        try withFolder { folder in
            for number in 0..<5 {
                try folder.written { writer in
                    let now = Self.now + Int64(number) * 10_000
                    writer.note([.remember(Remembered(.absent, url(number), "404", until: now + 1_000))], now: now)
                }
            }
            try folder.written { writer in
                let count = try writer.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM remembered") }
                #expect(count == 1)
            }
        }
    }

    @Test("what is too long to be worth it is not remembered")
    func tooLong() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let long = url(1) + String(repeating: "x", count: MemoryTable.longest)
                writer.note([remember(.absent, long, "404"), remember(.moved, url(1), long)], now: Self.now)
                try writer.writeUsage()
                let reader = try folder.reader()
                #expect(try values(reader, .absent, [long]) == [nil])
                #expect(try values(reader, .moved, [url(1)]) == [nil])
            }
        }
    }

    @Test("a repair loses what was remembered, and no cover")
    func repair() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                writer.note([remember(.absent, url(2), "404")], now: Self.now)
                try writer.writeUsage()
                #expect(try writer.rebuild() == 1)
            }
            #expect(try values(folder.reader(), .absent, [url(2)]) == [nil])
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }
}
