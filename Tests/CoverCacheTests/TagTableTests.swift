import Foundation
import Testing

@testable import CoverCache

@Suite struct TagTableTests {
    private func withTable(rows: Int = 0, _ body: (TagTable) throws -> Void) throws {
        try withFolder { folder in try body(try TagTable.make(path: folder.root + "/table", index: 7, rows: rows)) }
    }

    private func rows(_ tag: Int64, in table: TagTable) -> [Int64] {
        var rows: [Int64] = []
        _ = table.find(tag) { row -> Bool? in
            rows.append(row)
            return nil
        }
        return rows
    }

    /// Adds rows 1…`count`, and returns their tags.
    private func fill(_ table: TagTable, _ count: Int) -> [Int64] {
        var random = Randomness(seed: 1)
        let tags = (0..<count).map { _ in Int64(bitPattern: random.next()) }
        for (number, tag) in tags.enumerated() { table.add(tag, row: Int64(number + 1)) }
        return tags
    }

    @Test("every row is found by its tag, and hardly any other, however full the table is")
    func finding() throws {
        try withTable { table in
            let tags = fill(table, 15_000)
            #expect(table.load > 0.9)
            var others = 0
            for (number, tag) in tags.enumerated() {
                let found = rows(tag, in: table)
                #expect(found.contains(Int64(number + 1)))
                others += found.count - 1
            }
            #expect(others < 10)
            #expect(table.lastRow == 15_000)
            var random = Randomness(seed: 1 << 32)
            #expect(
                (0..<1_000).reduce(0) { sum, _ in sum + rows(Int64(bitPattern: random.next()), in: table).count } < 5)
        }
    }

    @Test(
        "rows that share a tag are all offered, in any number, also around the table's end",
        arguments: [0, -1] as [Int64])
    func shared(tag: Int64) throws {
        try withTable { table in
            for row in 1...50 { table.add(tag, row: Int64(row)) }
            #expect(rows(tag, in: table).sorted() == Array(1...50))
            #expect(table.find(tag) { $0 == 33 ? "it" : nil } == "it")
        }
    }

    @Test("a grown table has everything the smaller one had")
    func growing() throws {
        try withTable { table in
            let tags = fill(table, 14_000)
            let grown = try table.grown(index: 7)
            #expect(grown.load < 0.5)
            for (number, tag) in tags.enumerated() { #expect(rows(tag, in: grown).contains(Int64(number + 1))) }
        }
    }

    @Test("a table is not taken for that of another index, nor one that is cut off or something else")
    func foreign() throws {
        try withFolder { folder in
            let path = folder.root + "/table"
            _ = try TagTable.make(path: path, index: 7, rows: 0).publish(at: path, replacing: nil)
            #expect(TagTable(path: path, index: 7, writable: false) != nil)
            #expect(TagTable(path: path, index: 8, writable: false) == nil)
            try Bytes.truncate(path, to: Bytes.length(path) - 4_096)
            #expect(TagTable(path: path, index: 7, writable: false) == nil)
            try Bytes.write(Array(repeating: 0, count: 20_480), to: path)
            #expect(TagTable(path: path, index: 7, writable: false) == nil)
            #expect(TagTable(path: path + ".none", index: 7, writable: false) == nil)
        }
    }

    // MARK: In a cache

    private func store(_ numbers: ClosedRange<Int>, in writer: CacheWriter) throws {
        for number in numbers {
            try writer.put(url(number), picture(number, bytes: 50))
            if number.isMultiple(of: 500) { _ = try writer.commit() }
        }
        _ = try writer.commit()
    }

    @Test(
        "tables that are gone, of another start of the machine, or behind the rows are made anew, and nothing is lost")
    func madeAnew() throws {
        try withFolder { folder in
            try folder.written { try store(1...40, in: $0) }
            let tables = [folder.path + "/entries.tags", folder.path + "/blobs.tags"]
            let damages: [(String) throws -> Void] = [
                { try FileManager.default.removeItem(atPath: $0) },
                { try Bytes.overwrite($0, at: 48, with: Array(repeating: 9, count: 16)) },
                // The last row it has, and every slot.
                { try Bytes.overwrite($0, at: 32, with: Array(repeating: 0, count: 8)) },
                { try Bytes.write([1, 2, 3], to: $0) },
            ]
            for (round, damage) in damages.enumerated() {
                for table in tables {
                    try damage(table)
                    let wiped = Bytes.length(table) > 4_096
                    if wiped {
                        try Bytes.overwrite(
                            table, at: 4_096, with: Array(repeating: 0, count: Bytes.length(table) - 4_096))
                    }
                }
                #expect(try folder.contents().count == 40 + round)
                #expect(try folder.defects().isEmpty)
                // The same bytes under another URL are known again.
                try folder.written { writer in
                    let outcome = try writer.store(url(100 + round), picture(7, bytes: 50))
                    #expect(outcome == [.stored(digest(7), deduplicated: true)])
                }
            }
        }
    }

    private func digest(_ number: Int) -> Digest { picture(number, bytes: 50).withUnsafeBytes { Digest(of: $0) } }

    @Test("a reader and a second writer go on when the first one's tables outgrow their files")
    func outgrown() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.store(url(0), picture(0, bytes: 50))
                    let reader = try folder.reader()
                    let before = Bytes.length(folder.path + "/entries.tags")
                    try store(1...16_000, in: first)
                    #expect(Bytes.length(folder.path + "/entries.tags") > before)
                    for number in [0, 1, 8_000, 16_000] {
                        #expect(try reader.bytes(url(number)) == picture(number, bytes: 50))
                    }
                    #expect(
                        try second.store(url(20_000), picture(9, bytes: 50)) == [.stored(digest(9), deduplicated: true)]
                    )
                    #expect(try reader.bytes(url(20_000)) == picture(9, bytes: 50))
                    #expect(try second.verify().defects.isEmpty)
                }
            }
        }
    }

    @Test("an entry that its table has lost is found by verify, and is back after a rebuild")
    func lostSlot() throws {
        try withFolder { folder in
            try folder.written { writer in
                try store(1...5, in: writer)
                let table = folder.path + "/entries.tags"
                try Bytes.overwrite(table, at: 4_096, with: Array(repeating: 0, count: Bytes.length(table) - 4_096))
                let defects = try writer.verify().defects
                #expect(Set(defects.compactMap(\.key)) == Set((1...5).map(url)))
                #expect(try writer.rebuild() == 5)
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.contents().count == 5)
        }
    }
}
