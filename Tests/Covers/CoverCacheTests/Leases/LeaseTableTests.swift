import Foundation
import Testing

@testable import CoverCache

/// Two tables in one folder behave as two processes: the kernel's locks belong to open files.
@Suite struct LeaseTableTests {
    @Test func `one table at a time holds the lease of a key; after its release another takes it`() throws {
        try withTables { first, second in
            let lease = try #require(first.take("http://a/1"))
            #expect(second.take("http://a/1") == nil)
            for other in 2...100 { #expect(second.take("http://a/\(other)") != nil, "another key") }
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

    @Test func `a key that is taken twice keeps its lease until both are released`() throws {
        try withTables { first, second in
            let leases = (0..<2).compactMap { _ in first.take("http://a/0") }
            try #require(leases.count == 2)
            first.release(leases[0])
            #expect(second.take("http://a/0") == nil)
            first.release(leases[1])
            #expect(second.take("http://a/0") != nil)
        }
    }

    @Test func `a file that another program cuts off or deletes costs no process its life, nor its leases`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            let (first, second) = (try LeaseTable(directory), try LeaseTable(directory))
            first.didCommit()
            _ = try #require(first.take("http://a/1"))
            try #require(truncate(folder.path + "/leases/commits", 0) == 0)
            #expect(first.hasForeignCommits && second.take("http://a/1") == nil)
            first.didCommit()
            try Bytes.remove(folder.path + "/leases/commits")
            second.didCommit()
            #expect(second.take("http://a/1") == nil)
        }
    }

    @Test func `a long file is emptied when it is opened`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            let first = try LeaseTable(directory)
            try Bytes.write(repeatElement(UInt8(ascii: "\n"), count: 2 << 20), to: folder.path + "/leases/commits")
            #expect(try !LeaseTable(directory).hasForeignCommits)
            #expect(Bytes.length(folder.path + "/leases/commits") == 0)
            first.didCommit()
            #expect(first.take("http://a/1") != nil)
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

    @Test func `only the user may read the files; one that counts no commits is refused, and stays as it is`() throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            for path in ["/leases", "/leases/commits"] {
                _ = try LeaseTable(directory)
                let file = folder.path + path
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == (path == "/leases" ? 0o700 : 0o600))
                try FileManager.default.removeItem(atPath: file)
                try Data("something else".utf8).write(to: URL(filePath: file))
                #expect(throws: (any Error).self) { try LeaseTable(directory) }
                #expect(try Data(contentsOf: URL(filePath: file)).starts(with: Data("something else".utf8)))
                try FileManager.default.removeItem(atPath: file)
            }
        }
    }

    @Test(arguments: ["", "\n\n"]) func `the one file of earlier caches gives way to the folder`(content: String) throws
    {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            try Data(content.utf8).write(to: URL(filePath: folder.path + "/leases"))
            let (first, second) = (try LeaseTable(directory), try LeaseTable(directory))
            #expect(first.take("http://a/1") != nil && second.take("http://a/1") == nil)
            #expect(Bytes.exists(folder.path + "/leases/commits"))
        }
    }

    private func withTables(_ body: (LeaseTable, LeaseTable) throws -> Void) throws {
        try withFolder { folder in
            let directory = try CacheDirectory(creating: folder.path)
            try body(LeaseTable(directory), LeaseTable(directory))
        }
    }
}
