import Platform
import Testing

@testable import SQLite

@Suite struct SQLiteLogTests {
    @Test func `a failed system call is read from a line of SQLite's log`() {
        let line = "os_unix.c:44080: (28) open(/a (b)/index.sqlite3-wal) - No space left on device"
        #expect(
            SQLiteLog.systemError(in: line)
                == SystemError("open", path: "/a (b)/index.sqlite3-wal", number: 28))
        #expect(
            SQLiteLog.systemError(in: "os_unix.c:1: (5) full_fsync() - Input/output error")
                == SystemError("full_fsync", number: 5))
    }

    @Test(arguments: [
        "", "cannot open file at line 44080 of [ebead0e7]", "recovered 12 frames from WAL file /a/index.sqlite3-wal",
        "os_unix.c:44080: (x) open(/a) - y",
    ])
    func `other lines are no system call`(line: String) { #expect(SQLiteLog.systemError(in: line) == nil) }
}
