import Testing

@testable import SQLite

@Suite struct StatementTests {
    /// The second column of a row.
    private func stored(_ value: SQLValue) throws -> (value: SQLValue, type: String) {
        var found: (SQLValue, String)?
        try withTable { connection in
            try connection.statement("INSERT INTO t VALUES (1, ?)").run(value)
            found = try connection.statement("SELECT value, typeof(value) FROM t").first { row in
                let value: SQLValue =
                    switch row.text(1) {
                    case "null": .null
                    case "integer": .int(row.int64(0))
                    case "text": .text(row.text(0))
                    default: .blob(row.withBytes(0) { Array($0!) })
                    }
                return (value, row.text(1))
            }
        }
        return try #require(found)
    }

    @Test(
        arguments: [
            (.null, "null"), (.int(0), "integer"), (.int(Int64.max), "integer"), (.int(Int64.min), "integer"),
            (.text(""), "text"), (.text("a"), "text"), (.text("a\0b"), "text"), (.text("ü – 🎵"), "text"),
            (.text(String(repeating: "x", count: 100_000)), "text"), (.blob([]), "blob"), (.blob([0, 255, 0]), "blob"),
        ] as [(SQLValue, String)])
    func `a value comes back as it was stored, with its type`(value: SQLValue, type: String) throws {
        let found = try stored(value)
        #expect(found.value == value)
        #expect(found.type == type)
    }

    @Test func `NULL differs from zero, an empty text and an empty blob`() throws {
        try withTable { connection in
            try connection.execute("INSERT INTO t VALUES (1, NULL), (2, 0), (3, ''), (4, x''), (5, 'abc')")
            let select = connection.statement("SELECT value FROM t WHERE id = ?")
            #expect(try select.first(.int(1)) { $0.optionalInt64(0) } == .some(nil))
            #expect(try select.first(.int(2)) { $0.optionalInt64(0) } == 0)
            #expect(try select.first(.int(1)) { $0.optionalText(0) } == .some(nil))
            #expect(try select.first(.int(3)) { $0.optionalText(0) } == "")
            #expect(try select.first(.int(1)) { row in row.withBytes(0) { $0?.count } } == .some(nil))
            #expect(try select.first(.int(4)) { row in row.withBytes(0) { $0?.count } } == 0)
            // A text is no integer, and no row is no value.
            #expect(try select.first(.int(5)) { $0.optionalInt64(0) } == .some(nil))
            #expect(try select.first(.int(5)) { $0.int64(0) } == 0)
            #expect(try select.first(.int(6)) { $0.optionalText(0) } == nil)
        }
    }

    @Test func `an absent number is NULL`() throws {
        #expect(SQLValue.int(nil as Int?) == .null)
        #expect(SQLValue.int(nil as Int64?) == .null)
        #expect(SQLValue.int(7 as Int?) == .int(7 as Int64))
    }

    @Test func `run returns the number of changed rows, and an insertion its row`() throws {
        try withTable { connection in
            let insert = connection.statement("INSERT INTO t(value) VALUES (?)")
            for number in 1...3 {
                let changed = try insert.run(.int(number))
                #expect(changed == 1)
                #expect(insert.lastInsertedRow == number)
            }
            let update = connection.statement("UPDATE t SET value = 0 WHERE id >= ?")
            let changed = [try update.run(.int(2)), try update.run(.int(9))]
            #expect(changed == [2, 0])
        }
    }

    @Test func `a statement is prepared once, and a failing step leaves it usable`() throws {
        try withTable { connection in
            let insert = connection.statement("INSERT INTO t VALUES (?, ?)")
            let again = connection.statement("INSERT INTO t VALUES (?, ?)")
            #expect(insert === again)
            try insert.run(.int(1), .text("a"))
            let error = sqliteError { try insert.run(.int(1), .text("b")) }
            #expect(error?.code == .constraint)
            #expect(error?.extendedCode.rawValue == 1_555)  // SQLITE_CONSTRAINT_PRIMARYKEY
            #expect(error?.message == "UNIQUE constraint failed: t.id")
            #expect(error?.sql == "INSERT INTO t VALUES (?, ?)")
            try insert.run(.int(2), .text("c"))
            try expectRows(2, connection)
        }
    }

    @Test func `a visit that throws or stops early resets the statement`() throws {
        struct Stop: Error {}
        try withTable { connection in
            try connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
            let select = connection.statement("SELECT id FROM t ORDER BY id")
            #expect(throws: Stop.self) { try select.each { _ in throw Stop() } }
            #expect(throws: Stop.self) { try select.first { _ in throw Stop() } }
            #expect(try select.first { $0.int(0) } == 1)
            // An open read would keep the schema from changing.
            try connection.execute("DROP TABLE t")
        }
    }

    @Test func `parameters keep no value of an earlier run`() throws {
        try withTable { connection in
            let insert = connection.statement("INSERT INTO t VALUES (?, ?)")
            try insert.run(.int(1), .text("a"))
            #expect(sqliteError { try insert.run(.int(2)) }?.code == .range)
            #expect(sqliteError { try insert.run(.int(2), .null, .null) }?.code == .range)
            try expectRows(1, connection)
        }
    }

    @Test func `a statement runs within its own visit`() throws {
        try withTable { connection in
            try connection.execute("INSERT INTO t VALUES (1, 2), (2, 3), (3, 1)")
            let select = connection.statement("SELECT id, value FROM t WHERE id >= ? ORDER BY id")
            var pairs: [[Int]] = []
            try select.each(.int(1)) { row in
                let next = try select.first(.int(row.int(1))) { $0.int(0) }
                pairs.append([row.int(0), try #require(next)])
            }
            #expect(pairs == [[1, 2], [2, 3], [3, 1]])
        }
    }

    @Test(arguments: ["SELEKT 1", "SELECT * FROM missing", "SELECT missing FROM t"])
    func `wrong SQL is an error that names it`(sql: String) throws {
        try withTable { connection in
            let error = sqliteError { try connection.statement(sql).run() }
            #expect(error?.code == .error)
            #expect(error?.sql == sql)
            #expect(sqliteError { try connection.execute(sql) }?.sql == sql)
        }
    }

    @Test(arguments: ["", "-- nothing", "SELECT 1; SELECT 2"])
    func `a statement is exactly one`(sql: String) throws {
        try withTable { connection in
            #expect(sqliteError { try connection.statement(sql).run() }?.code == .misuse)
        }
    }

    @Test func `a statement that outlives its connection throws`() throws {
        try withFile { path in
            func statement() throws -> Statement {
                let connection = try Connection(path)
                let statement = connection.statement("SELECT 1")
                try statement.run()
                return statement
            }
            let left = try statement()
            #expect(sqliteError { try left.run() }?.code == .misuse)
        }
    }
}
