import CoverCache
import Files
import Platform
import Synchronization

/// A tier in a directory, which may be on another machine: it needs no locks and no index.
///
///     sleeve-tier             "sleeve tier 1\n"
///     covers/ab/abcdef…       a cover, as in a cache: its bytes and nothing else, named by their SHA-256
///     entries/ab/abcdef…      a cover's entry: the line of `entries.jsonl`, named by the SHA-256 of its URL
///
/// A file appears under its name when it is complete and synced, and an entry after its cover. So a machine that dies leaves at most
/// temporary files, and a cover without an entry, which costs its space. Covers with the same bytes are one file.
package final class TierDirectory: TierStorage {
    private static let formatName = FileName(CacheDirectory.tierFormat)!
    /// Longer files are no entries, in bytes.
    private static let maximumEntry = 1 << 20
    /// Calls that have not returned, beyond which no other begins.
    private static let maximumCalls = 96

    private let path: String
    private let limit: Duration
    /// Calls that have not returned.
    private let calls = Mutex(0)

    /// - Parameter limit: how long a call may take.
    package init(_ path: String, limit: Duration = .seconds(10)) { (self.path, self.limit) = (path, limit) }

    package func check(isReadOnly: Bool) async throws(TierError) {
        try await onThread { [self] () throws(TierError) in
            let root = try system { () throws(SystemError) in try OpenFolder(path: path) }
            // Listed first: another machine may make the directory a tier meanwhile.
            let names = try system { () throws(SystemError) in try root.names() }
            let (format, found) = (Array(Tier.format.utf8), try contents(nil, "\(Self.formatName)", in: root))
            if let found {
                if found != format { throw .otherVersion("another version of Sleeve has made it") }
            } else if isReadOnly {
                throw .refused("it has no file sleeve-tier, which the first machine that may write creates")
            } else if names.contains(where: { $0.bytes.first != UInt8(ascii: ".") && !StorageNames.contains($0.bytes) })
            {
                throw .refused("it has other files, as a cache has; a tier begins as an empty directory")
            } else {
                try system { () throws(SystemError) in try write(format, Self.formatName, in: root) }
            }
        }
    }

    /// Opens the directory.
    /// - Throws: `TierError.refused` if it is no tier any more, as when its disk was unmounted.
    private func root() throws(TierError) -> OpenFolder {
        let root = try system { () throws(SystemError) in try OpenFolder(path: path) }
        let isTier = try system { () throws(SystemError) in try root.status(of: Self.formatName) != nil }
        if !isTier { throw .refused("\(path) is no tier any more; mount its disk") }
        return root
    }

    package func cover(for key: TierKey) async throws(TierError) -> TierCover? {
        try await onThread { [self] () throws(TierError) in
            let root = try root()
            guard let line = try contents("entries", key.hash, in: root, maximum: Self.maximumEntry) else { return nil }
            guard let entry = EntryLine(line) else { throw .damaged("its entry is no line of JSON") }
            let name = entry.digest.description
            guard let body = try contents("covers", name, in: root, maximum: Tier.maximumCover) else {
                throw .damaged("its file is gone")
            }
            return try TierCover(entry, body: body, for: key)
        }
    }

    package func put(_ cover: TierCover) async throws(TierError) {
        try await onThread { [self] () throws(TierError) in
            let (root, key) = (try root(), cover.key)
            try system { () throws(SystemError) in
                let name = cover.entry.digest.description
                let covers = try folder("covers", String(name.prefix(2)), in: root)
                if (try? contents("covers", name, in: root, maximum: cover.body.count)) != cover.body {
                    try write(cover.body, FileName(name)!, in: covers)
                }
                let entries = try folder("entries", String(key.hash.prefix(2)), in: root)
                try write(cover.entry.line, FileName(key.hash)!, in: entries)
            }
        }
    }

    /// Runs a call on a thread of its own. A file system of another machine may not answer for minutes, or ever: the caller gets an error
    /// after the limit, and if its task is cancelled.
    func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TierError) -> Value
    ) async throws(TierError) -> Value {
        let mayCall = calls.withLock { calls in
            if calls == Self.maximumCalls { return false }
            calls += 1
            return true
        }
        if !mayCall { throw .unreachable("too many calls have not returned") }
        let (answers, answer) = AsyncStream.makeStream(of: Result<Value, TierError>.self)
        WorkThread.start { [self] in
            do throws(TierError) { answer.yield(.success(try body())) } catch { answer.yield(.failure(error)) }
            calls.withLock { $0 -= 1 }
        }
        let timer = Task { [limit] in
            try await Task.sleep(for: limit)
            answer.yield(.failure(.unreachable("no answer within \(limit)")))
        }
        defer { timer.cancel() }
        for await outcome in answers { return try outcome.get() }
        throw .unreachable("stopped")
    }

    // MARK: Files

    private func system<Result>(_ body: () throws(SystemError) -> Result) throws(TierError) -> Result {
        do throws(SystemError) { return try body() } catch { throw TierError(error) }
    }

    /// - Returns: nil if there is no such file.
    private func contents(
        _ folder: String?, _ name: String, in root: OpenFolder, maximum: Int = 1_024
    ) throws(TierError) -> [UInt8]? {
        do throws(SystemError) {
            var found = root
            if let folder { found = try root.folder(FileName(folder)!).folder(FileName(name.prefix(2).utf8)!) }
            let file = try found.file(FileName(name)!)
            return file.length <= maximum ? try file.contents() : []
        } catch {
            if error.cause == .missing { return nil }
            throw TierError(error)
        }
    }

    /// Opens a folder of two levels, and creates it if it is missing: with the permissions of the tier, whatever this process's umask.
    private func folder(_ first: String, _ second: String, in root: OpenFolder) throws(SystemError) -> OpenFolder {
        var folder = root
        for name in [FileName(first)!, FileName(second)!] {
            let (parent, isNew) = (folder, try folder.makeFolder(name))
            folder = try parent.folder(name)
            if isNew { folder.setPermissions(try parent.permissions()) }
            if isNew { try parent.sync() }
        }
        return folder
    }

    private func write(_ bytes: [UInt8], _ name: FileName, in folder: OpenFolder) throws(SystemError) {
        let mode = try folder.permissions() & 0o666
        let file = try NewFile(in: folder, mode: mode, isLocked: false)
        file.setOwner(uid_t.max, gid_t.max, mode: mode)
        try file.write(bytes)
        try file.sync()
        try file.commit(as: name, replacing: true)
        try folder.sync()
    }
}

extension TierError {
    fileprivate init(_ error: SystemError) {
        switch error.number {
        case EINVAL, ELOOP, EISDIR: self = .damaged("\(error)")
        case ENOENT, ENOTDIR: self = .refused("\(error); create the directory, or mount its disk")
        case EACCES, EPERM, EROFS: self = .refused("\(error)")
        case ENOSPC, EDQUOT: self = .full("\(error)")
        default: self = .unreachable("\(error)")
        }
    }
}
