import Foundation
import Testing

@testable import CoverCache

/// Two tables on one file behave as two processes: the kernel's locks belong to open files.
@Suite struct LeaseTableTests {
    @Test func `one table at a time holds the lease of a key; after its release another takes it`() throws {
        try withTables { first, second in
            let lease = try #require(first.take("http://a/1"))
            #expect(second.take("http://a/1") == nil)
            #expect(second.take("http://a/2") != nil, "another key")
            first.release(lease)
            #expect(second.take("http://a/1") == lease)
            #expect(first.take("http://a/1") == nil)
        }
    }

    @Test func `the leases of a table end with it`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            let second = try LeaseTable(directory)
            do {
                let first = try LeaseTable(directory)
                try withExtendedLifetime(first) {
                    _ = try #require(first.take("http://a/1"))
                    #expect(second.take("http://a/1") == nil)
                }
            }
            #expect(second.take("http://a/1") != nil)
            #expect(second.hasForeignCommits, "the first may have died after a commit, before it counted it")
        }
    }

    @Test func `keys that share a slot share its lease, which ends with the last of them`() throws {
        let key = "http://a/0"
        let other = (1...).lazy.map { "http://a/\($0)" }.first { LeaseTable.slot(of: $0) == LeaseTable.slot(of: key) }!
        try withTables { first, second in
            let leases = [first.take(key), first.take(other)].compactMap(\.self)
            #expect(leases.count == 2)
            first.release(leases[0])
            #expect(second.take(key) == nil && second.take(other) == nil)
            first.release(leases[1])
            #expect(second.take(other) != nil)
        }
    }

    @Test func `a table notices the commits of others, and not its own`() throws {
        try withTables { first, second in
            first.didCommit()
            first.didCommit()
            #expect(!first.hasForeignCommits && second.hasForeignCommits)
            second.didCommit()
            #expect(first.hasForeignCommits)
        }
        try withTables { first, second in
            first.didCommit()
            second.didCommit()
            #expect(first.hasForeignCommits && second.hasForeignCommits, "also if its own commit follows")
        }
    }

    @Test func `a commit before a table was opened is not noticed: its covers are found by the first look-up`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            try LeaseTable(directory).didCommit()
            #expect(try !LeaseTable(directory).hasForeignCommits)
        }
    }

    @Test func `only the user may read the file; one that is no table is refused, and stays as it is`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            _ = try LeaseTable(directory)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/leases")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try Data("something else".utf8).write(to: URL(filePath: folder.path + "/leases"))
            #expect(throws: (any Error).self) { try LeaseTable(directory) }
            let kept = try Data(contentsOf: URL(filePath: folder.path + "/leases"))
            #expect(kept.starts(with: Data("something else".utf8)))
            try FileManager.default.removeItem(atPath: folder.path + "/leases")
            try FileManager.default.createDirectory(atPath: folder.path + "/leases", withIntermediateDirectories: false)
            #expect(throws: (any Error).self) { try LeaseTable(directory) }
        }
    }

    private func withTables(_ body: (LeaseTable, LeaseTable) throws -> Void) throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            try body(LeaseTable(directory), LeaseTable(directory))
        }
    }
}
