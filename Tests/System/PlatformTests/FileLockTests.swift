import Foundation
import Testing

@testable import Platform

@Suite struct FileLockTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func `one holder has the lock at a time, and its end or its error releases it`() throws {
        struct Stop: Error {}
        try withPath { path in
            let other = try FileLock(path: path)
            do {
                let lock = try FileLock(path: path)
                let isFree = try lock.withLock { try other.tryLock() }
                #expect(!isFree)
                #expect(try other.tryLock())
                #expect(try !lock.tryLock())
                other.unlock()
                #expect(throws: Stop.self) { try lock.withLock { () throws -> Void in throw Stop() } }
                #expect(try other.tryLock())
                other.unlock()
                #expect(try lock.tryLock())
            }
            #expect(try other.tryLock(), "closing the descriptor has released it")
        }
    }

    @Test func `a file that cannot be opened is an error that names it`() {
        let path = "/nonexistent-\(UUID().uuidString)/lock"
        let error = #expect(throws: SystemError.self) { _ = try FileLock(path: path) }
        #expect(error.map { "\($0)".contains(path) } == true)
    }

    @Test func `a symbolic link is no lock: what it leads to is not created, opened or changed`() throws {
        try withPath { path in
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".other")
            #expect(throws: SystemError.self) { _ = try FileLock(path: path) }
            #expect(!FileManager.default.fileExists(atPath: path + ".other"))
        }
    }

    @Test func `a lock whose file was replaced or removed is that of the file which has the path now`() throws {
        try withPath { path in
            let holder = try FileLock(path: path)
            let waiting = try FileLock(path: path)
            for isRemoved in [true, false] {
                #expect(try holder.tryLock())
                #expect(try !waiting.tryLock())
                if isRemoved {
                    try FileManager.default.removeItem(atPath: path)
                } else {
                    try Data().write(to: URL(filePath: path + ".copy"))
                    #expect(rename(path + ".copy", path) == 0)
                }
                let new = try FileLock(path: path)
                #expect(try new.tryLock())
                #expect(try !waiting.tryLock(), "it waits for the new file's holder")
                holder.unlock()
                #expect(try !holder.tryLock())
                new.unlock()
                #expect(try holder.withLock { try !waiting.tryLock() })
            }
        }
    }

    @Test func `a process waits for as long as the holder of the lock shows progress`() throws {
        try withPath { path in
            let holder = try FileLock(path: path)
            let waiting = try FileLock(path: path)
            #expect(try holder.tryLock())
            func modified() throws -> Date? {
                try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            }
            var (seconds, shown) = (0.0, 0)
            try waiting.withLock(sleep: { microseconds in
                seconds += Double(microseconds) / 1e6
                if seconds > 60 { return holder.unlock() }
                guard seconds > Double(shown) * 10, let before = try? modified() else { return }
                shown += 1
                // The kernel's clock for files advances every few milliseconds.
                while (try? modified()) == before { holder.showProgress() }
            }) {}
            #expect(shown == 6)
        }
    }

    @Test func `a process gives up 15 s after the holder of the lock has shown progress`() throws {
        try withPath { path in
            let holder = try FileLock(path: path)
            let waiting = try FileLock(path: path)
            #expect(try holder.tryLock())
            holder.showProgress()
            var microseconds = 0
            #expect(throws: FileLock.Timeout(path: path, seconds: 15)) {
                try waiting.withLock(sleep: { microseconds += Int($0) }) { Issue.record("the lock was not free") }
            }
            #expect((15_000_000..<15_010_000).contains(microseconds))
        }
    }
}
