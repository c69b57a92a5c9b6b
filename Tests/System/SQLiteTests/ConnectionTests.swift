import Foundation
import Platform
import Testing

@testable import SQLite

@Suite struct ConnectionTests {
    // MARK: Opening

    @Test func `writing creates the file, reading does not and changes nothing`() throws {
        try withFile { path in
            #expect(sqliteError { _ = try Connection(path, .reading) }?.code == .cannotOpen)
            #expect(!FileManager.default.fileExists(atPath: path))
            try Connection(path).execute("CREATE TABLE t(id)")
            let reader = try Connection(path, .reading)
            let hasTable = try reader.hasTable("t")
            #expect(hasTable)
            #expect(sqliteError { try reader.execute("DROP TABLE t") }?.code == .readOnly)
        }
    }

    @Test func `what a killed process had begun to write is rolled back by reading that repairs`() throws {
        try withFile { path in
            let copy = path + ".copy"
            try Connection(path).execute("CREATE TABLE t(id, text); INSERT INTO t VALUES (1, '')")
            let writer = try Connection(path)
            // Pages of the transaction go into the file before its end.
            try writer.execute("PRAGMA cache_size = 1")
            try writer.begin(.immediate)
            for id in 2...200 { try writer.execute("INSERT INTO t VALUES (\(id), hex(zeroblob(2000)))") }
            for end in ["", "-journal"] { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
            #expect(sqliteError { _ = try Connection(copy, .reading).integer("SELECT count(*) FROM t") } != nil)
            let count = try Connection(copy, .repairing).integer("SELECT count(*) FROM t")
            #expect(count == 1)
            #expect(sqliteError { _ = try Connection(path + ".none", .repairing) }?.code == .cannotOpen)
        }
    }

    @Test func `an immutable database is that of its path, whatever characters it has`() throws {
        try withFile { path in
            let paths = ["%41", "A", "a?mode=memory", "a#b"].map { FilePath.directory(of: path) + "/\($0)" }
            for (number, path) in paths.enumerated() {
                try Connection(path).execute("PRAGMA user_version = \(number + 1)")
            }
            for (number, path) in paths.enumerated() {
                let found = try Connection(path, .immutable).userVersion()
                #expect(found == number + 1, "\(path)")
            }
        }
    }

    @Test func `a schema without a table or a column of a statement is damaged`() throws {
        try withTable { connection in
            for sql in ["SELECT id FROM gone", "SELECT gone FROM t", "INSERT INTO t(gone) VALUES (1)"] {
                let error = sqliteError { try connection.statement(sql).run() }
                #expect(error?.isCorruption == true, "\(sql)")
            }
            let syntax = sqliteError { try connection.execute("SELEKT 1") }
            #expect(syntax?.isCorruption == false)
        }
    }

    @Test func `an error of opening names the system call that failed`() throws {
        try withFile { path in
            let missing = path + "/no/such.sqlite3"
            let error = sqliteError { _ = try Connection(missing) }
            #expect(error?.code == .cannotOpen)
            #expect(error?.message == "unable to open database file")
            #expect(error?.cause?.call == "open")
            #expect(error?.cause?.path == missing)
            #expect(error?.cause?.number == ENOENT)
        }
    }

    @Test func `a file that is no database, and a damaged one, are distinguished from others`() throws {
        try withFile { path in
            try Data(repeating: 7, count: 10_000).write(to: URL(filePath: path))
            let noDatabase = try Connection(path)
            let error = sqliteError { _ = try noDatabase.userVersion() }
            #expect(error?.code == .notADatabase)
            #expect(error?.isCorruption == true)
        }
        try withFile { path in
            do {
                let connection = try Connection(path)
                try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, value)")
                let insert = connection.statement("INSERT INTO t(value) VALUES (?)")
                for _ in 0..<100 { try insert.run(.blob([UInt8](repeating: 1, count: 1_000))) }
            }
            var bytes = try Data(contentsOf: URL(filePath: path))
            // Behind the header and the schema, in the first page.
            bytes.replaceSubrange(4_096..<20_000, with: [UInt8](repeating: 0xFF, count: 20_000 - 4_096))
            try bytes.write(to: URL(filePath: path))
            let damaged = try Connection(path)
            let error = sqliteError { try damaged.statement("SELECT value FROM t").run() }
            #expect(error?.code == .corrupt)
            #expect(error?.isCorruption == true)
            // The connection goes on.
            let hasTable = try damaged.hasTable("t")
            #expect(hasTable)
        }
        #expect(!SQLiteError(.busy, "").isCorruption)
    }

    @Test func `the version is kept in the file`() throws {
        try withFile { path in
            let connection = try Connection(path)
            let version = try connection.userVersion()
            #expect(version == 0)
            try connection.execute("PRAGMA user_version = 7")
            let stored = try Connection(path).userVersion()
            #expect(stored == 7)
        }
    }

    @Test func `closing rolls back, and the file can be opened again`() throws {
        try withFile { path in
            do {
                let connection = try Connection(path)
                try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, value)")
                try connection.begin(.immediate)
                try connection.statement("INSERT INTO t(value) VALUES (1)").run()
            }
            try expectRows(0, try Connection(path))
        }
    }

    // MARK: Waiting

    @Test func `a write lock of another connection is waited for, then it is an error`() throws {
        try withFile { path in
            let holder = try Connection(path)
            try holder.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, value)")
            let other = try Connection(path, busyTimeout: .milliseconds(20))
            try holder.transaction(.immediate) {
                let start = ContinuousClock.now
                let error = sqliteError { try other.transaction(.immediate) {} }
                #expect(error?.code == .busy)
                #expect(start.duration(to: .now) >= .milliseconds(15))
                #expect(other.isInTransaction == false)
                try other.setBusyTimeout(.zero)
                #expect(sqliteError { try other.begin(.immediate) }?.message == "database is locked")
            }
            try other.transaction(.immediate) { try other.execute("INSERT INTO t(value) VALUES (1)") }
            try expectRows(1, holder)
        }
    }

    @Test func `a deferred transaction reads one snapshot, and its late write is an error`() throws {
        try withFile { path in
            let writer = try Connection(path)
            let reader = try Connection(path)
            try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, value)")
            try reader.transaction(.deferred) {
                try expectRows(0, reader)
                try writer.execute("INSERT INTO t(value) VALUES (1)")
                try expectRows(0, reader)
                let error = sqliteError { try reader.execute("INSERT INTO t(value) VALUES (2)") }
                #expect(error?.extendedCode.rawValue == 517)  // SQLITE_BUSY_SNAPSHOT
            }
            try expectRows(1, reader)
        }
    }

    // MARK: Transactions

    private struct Refusal: Error {}

    @Test func `a transaction commits, and one that throws leaves nothing`() throws {
        try withTable { connection in
            let number = try connection.transaction(.immediate) {
                #expect(connection.isInTransaction == true)
                try connection.execute("INSERT INTO t(value) VALUES (1)")
                return 5
            }
            #expect(number == 5)
            #expect(throws: Refusal.self) {
                try connection.transaction(.immediate) {
                    try connection.execute("DELETE FROM t")
                    throw Refusal()
                }
            }
            #expect(connection.isInTransaction == false)
            try expectRows(1, connection)
        }
    }

    @Test func `a failing commit rolls back`() throws {
        try withFile { path in
            let connection = try Connection(path)
            try connection.execute(
                """
                PRAGMA foreign_keys = ON; CREATE TABLE a(id INTEGER PRIMARY KEY);
                CREATE TABLE t(a REFERENCES a DEFERRABLE INITIALLY DEFERRED);
                """)
            let error = sqliteError {
                try connection.transaction(.immediate) { try connection.execute("INSERT INTO t VALUES (9)") }
            }
            #expect(error?.message == "FOREIGN KEY constraint failed")
            #expect(connection.isInTransaction == false)
            try expectRows(0, connection)
        }
    }

    @Test func `a full database is an error, after which SQLite has rolled back by itself`() throws {
        try withTable { connection in
            try connection.execute("INSERT INTO t(value) VALUES ('a'); PRAGMA max_page_count = 3")
            let error = sqliteError {
                try connection.transaction(.immediate) {
                    _ = try connection.statement("INSERT INTO t(value) VALUES (?)")
                        .run(.blob([UInt8](repeating: 1, count: 100_000)))
                }
            }
            #expect(error?.code == .full)
            #expect(connection.isInTransaction == false)
            try expectRows(1, connection)
        }
    }

    @Test func `a statement ends when it is no longer wanted, and the next one runs`() throws {
        try withTable { connection in
            var questions = 0
            let endless = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t(value) SELECT i FROM n
                """
            let error = sqliteError {
                try connection.interrupting {
                    questions += 1
                    return questions == 3
                } _: {
                    try connection.transaction(.immediate) { try connection.execute(endless) }
                }
            }
            #expect(error?.code.rawValue == 9 && questions == 3)
            #expect(connection.isInTransaction == false)
            try connection.execute("INSERT INTO t(value) VALUES (1)")
            try expectRows(1, connection)
        }
    }

    @Test func `a script stops at its first error`() throws {
        try withTable { connection in
            let error = sqliteError {
                try connection.execute(
                    "INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (1, 2); INSERT INTO t VALUES (2, 2)")
            }
            #expect(error?.code == .constraint)
            try expectRows(1, connection)
        }
    }
}
