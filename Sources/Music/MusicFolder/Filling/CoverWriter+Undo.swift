import Files
import ImageHeader
package import Platform

/// Taking back the last fill.
extension CoverWriter {
    /// Takes back the last fill that was not taken back, and no other: removes its files that are unchanged, and puts back those that they
    /// replaced. Of what cannot be taken back now the fill stays the last one.
    /// - Parameters:
    ///   - isDryRun: Say what would be done, and do nothing.
    ///   - cachedPath: The path of a cached cover's file. Covers that were kept need none.
    /// - Returns: Each file, where it is by now, and what became of it.
    /// - Throws: `MusicState.Problem`.
    package func undo(
        isDryRun: Bool = false, cached cachedPath: @Sendable (Digest) -> String
    ) throws -> [(file: WrittenFile, step: UndoStep)] {
        guard let run = try state.runs().first else { return [] }
        func cached(_ digest: Digest) -> String {
            let (path, kept) = (cachedPath(digest), state.keptCover(digest))
            return access(path, R_OK) != 0 && access(kept, R_OK) == 0 ? kept : path
        }
        defer { if !isDryRun { state.sweepKept() } }
        return try state.files(ofRun: run).map { file -> (file: WrittenFile, step: UndoStep) in
            var file = file
            do {
                let step = UndoStep(file, try find(&file)) { access(cached($0), R_OK) == 0 }
                if !isDryRun { try take(step, file, cached) }
                return (file, step)
            } catch let error as SystemError {
                return (file, .fail(reason: error.reason))
            } catch let refusal as OwnFile.Refusal {
                return (file, .fail(reason: refusal.reason))
            } catch is CachedCover.Damaged {
                return (file, .fail(reason: UndoStep.uncached))
            }
        }
    }

    /// What has the name of a file, which may be at another path by now.
    private func find(_ file: inout WrittenFile) throws -> UndoStep.Found {
        let (digest, name, journal) = (file.digest, FileName(file.name), state.journal)
        let isThere: (BytePath) -> Bool = { folder in
            guard let name, let folder = try? OpenFolder(path: folder.bytes) else { return false }
            return (try? OwnFile(name, in: folder, journal).digest()) == digest
        }
        if !isThere(file.folder),
            let folder = try state.otherPlaces(of: file.folder, below: file.root).first(where: isThere)
        {
            try state.move(file, to: folder)
            file.folder = folder
        }
        let folder: OpenFolder
        do throws(SystemError) {
            folder = try OpenFolder(path: file.folder.bytes)
        } catch {
            guard error.cause == .missing || error.cause == .notAFolder else { throw error }
            return try state.isAway(file.folder, disk: file.disk) ? .away : .nothing
        }
        guard let name, try folder.status(of: name) != nil else {
            return file.disk.map { $0 != folder.disk } ?? false ? .away : .nothing
        }
        return try OwnFile(name, in: folder, state.journal).digest().map { .bytes($0) } ?? .other
    }

    private func take(_ step: UndoStep, _ file: WrittenFile, _ cached: (Digest) -> String) throws {
        switch step {
        case .remove:
            try remove(file, in: OpenFolder(path: file.folder.bytes))
            try state.forget(file)
        case .restore(let replaced):
            try restore(replaced, of: file, try CachedCover(cached(replaced.digest), replaced.digest))
        case .keep: try state.forget(file)
        case .stayAway: try state.settle(file)
        case .away, .fail: break
        }
    }

    private func restore(_ replaced: WrittenFile.Replaced, of file: WrittenFile, _ cover: borrowing CachedCover) throws
    {
        guard let name = FileName(file.name), let former = FileName(replaced.name) else { return }
        let folder = try OpenFolder(path: file.folder.bytes)
        folder.sweep()
        let new = try cover.copy(in: folder)
        var restored = file
        (restored.name, restored.digest, restored.replaced) = (replaced.name, replaced.digest, nil)
        (restored.width, restored.height, restored.run) = (cover.size?.width, cover.size?.height, replaced.run)
        (restored.modified, restored.isSeen) = (FileStatus(try new.status()).modified, false)
        if former == name {
            try OwnFile(name, in: folder, state.journal).replace(.init(file.digest, isOwn: true), by: new)
            return try state.save(restored)
        }
        if let status = try folder.status(of: name) { new.setOwner(status.st_uid, status.st_gid, mode: status.st_mode) }
        try new.sync()
        try state.save(restored)
        do {
            try OwnFile(former, in: folder, state.journal).create(new)
        } catch {
            try state.forget(restored)
            throw error
        }
        try remove(file, in: folder)
        try state.forget(file)
    }
}
