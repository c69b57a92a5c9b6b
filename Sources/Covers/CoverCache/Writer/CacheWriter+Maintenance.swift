package import Platform
import SQLite

extension CacheWriter {
    private struct DryRun: Error {}

    // MARK: Storing

    /// Puts covers and commits them in groups.
    /// - Returns: for each that is stored, whether its bytes were stored already; for the others, why they are not.
    /// - Throws: the disk's error. Groups committed before it are stored, and nothing is left of the others.
    package func store(_ covers: [ImportedCover]) throws -> [Result<Bool, CacheError>] {
        var results: [Result<Bool, CacheError>] = []
        results.reserveCapacity(covers.count)
        var pending: [Int] = []
        func commitPending() throws {
            for (index, outcome) in zip(pending, try commit()) {
                switch outcome {
                case .stored(_, let isDuplicate): results[index] = .success(isDuplicate)
                case .unstored(let error): results[index] = .failure(error)
                case .lost, .withheld: preconditionFailure("its bytes are kept, and it replaces any other")
                }
            }
            pending = []
            // They are stored, whether others can be evicted or not.
            try? makeRoom(headroom)
        }
        do {
            for (index, cover) in covers.enumerated() {
                if isGroupFull(before: cover.body.count) { try commitPending() }
                results.append(.failure(.closed))
                do {
                    _ = try cover.body.withUnsafeBytes {
                        try put(cover.metadata, body: $0, digest: cover.digest, keepsBody: true)
                    }
                    pending.append(index)
                } catch let error as CacheError where error.isOfCover {
                    results[index] = .failure(error)
                }
            }
            try commitPending()
        } catch {
            // Else the group of a later put would have them, too.
            if let group = seal() { abandon(group) }
            throw error
        }
        return results
    }

    // MARK: Removing

    /// Removes entries, and the covers that no other entry names. Keys without an entry are ignored. A removed key is unpinned.
    /// - Parameters:
    ///   - includesPinned: Remove pinned entries as well.
    ///   - isDryRun: Count, and change nothing.
    /// - Throws: `CacheError`.
    package func remove(
        _ keys: some Sequence<String>, includingPinned includesPinned: Bool, dryRun isDryRun: Bool = false
    ) throws -> RemovalSummary {
        var removal = RemovalSummary()
        do {
            try index.freeing { changes in
                removal = RemovalSummary()
                let before = changes.state.charged
                for key in keys {
                    guard let entry = try index.table.entry(key) else { continue }
                    if try index.pins.contains(key) {
                        if !includesPinned {
                            removal.pinned += 1
                            continue
                        }
                        _ = try changes.unpin(key)
                    }
                    try changes.removeEntry(entry, key: key)
                    changes.log(.removed(key))
                    removal.entries += 1
                }
                removal.bytes = before - changes.state.charged
                if isDryRun { throw DryRun() }
            }
        } catch is DryRun {
            return removal
        }
        _ = try? index.checkpoint()
        return removal
    }

    /// Removes entries whose bytes may be another's, and the covers that no other entry names. Keys without an entry are ignored; pins stay.
    /// - Throws: `CacheError`.
    package func withdraw(_ keys: [String]) throws {
        if keys.isEmpty { return }
        try index.freeing { changes in
            for key in keys {
                guard let entry = try index.table.entry(key) else { continue }
                try changes.removeEntry(entry, key: key)
                changes.log(.removed(key))
            }
        }
    }

    /// Removes an entry whose cover is damaged or missing, with all that share the cover. One that is whole by now stays.
    /// - Throws: `CacheError.noCovers` if no cover has a file: their folder is more likely to be elsewhere than lost.
    package func dropDamaged(_ key: String) throws {
        try index.freeing { changes in
            guard let entry = try index.table.entry(key) else { return }
            if try covers.folders().isEmpty { throw CacheError.noCovers(covers.path) }
            guard let cover = try index.table.cover(id: entry.cover) else {
                return try changes.removeEntry(entry, key: key)
            }
            if try covers.read(cover.digest, length: cover.length) == nil {
                try changes.removeCover(cover)
            } else if try !index.table.isSealed(entry, key, cover.digest) {
                try changes.removeEntry(entry, key: key)
            }
        }
    }

    // MARK: Pins

    /// Pins keys, whether or not they have an entry.
    /// - Returns: for each, whether it was not pinned before.
    /// - Throws: `CacheError`.
    package func pin(_ keys: some Sequence<String>) throws -> [Bool] {
        try index.transaction { changes in try keys.map { try changes.pin($0) } }
    }

    /// Unpins keys.
    /// - Returns: for each, whether it was pinned before.
    /// - Throws: `CacheError`.
    package func unpin(_ keys: some Sequence<String>) throws -> [Bool] {
        try index.transaction { changes in try keys.map { try changes.unpin($0) } }
    }

    /// Unpins everything, also keys without an entry.
    /// - Returns: how many were pinned before.
    /// - Throws: `CacheError`.
    package func unpinAll() throws -> Int {
        try index.transaction { changes in try index.pins.all().count { try changes.unpin($0) } }
    }

    // MARK: Counts

    /// Returns the statistics without `diskBytes`, `oldest` and `newest`.
    package func totals() throws -> CacheStatistics { CacheStatistics(try IndexState(index.connection)) }

    /// Counts all rows, which takes as long as reading them.
    func recount() throws { try index.transaction { try $0.state.recount(index.connection) } }

    /// Moves the index's whole log into the index, and gives back what both no longer need.
    package func compact() throws {
        try index.shrink()
        try index.checkpoint(ifLongerThan: 0)
    }

    // MARK: Verifying

    /// Unlinks files that no row names, if a process has left any and no process is writing covers.
    func sweep() throws {
        try index.marker.sweepIfNeeded {
            // After a failed commit its rows may be in the index's log, and no process sees them until one reads the whole log. A write
            // replaces them: what has a row now has it for good.
            do { try index.freeing { _ = $0.state.tick() } } catch  where CacheError(error).mayNeedRoom {}
            try removeUnnamed()
        }
    }

    private func removeUnnamed() throws {
        for folder in try covers.folders() {
            // In slices: each holds the lock for a few milliseconds.
            try index.removeFiles { readable { () throws(CacheError) in try covers.sweep(folder) } }
        }
        try sweepSizes()
    }

    /// The covers of a folder that is swept. One that cannot be read is swept later.
    func readable(_ names: () throws(CacheError) -> [Digest]) -> [Digest] {
        do throws(CacheError) { return try names() } catch {
            index.marker.keep()
            notice(.unfinished(error))
            return []
        }
    }

    /// Does a part of what mends the cache, in one transaction: damaged covers are removed, and all others keep their times and their order of
    /// use. A corrupt index is set aside and rebuilt. Call it until `isMended`.
    /// - Throws: `CacheError.noCovers`, which nothing is dropped for.
    package func mend(_ found: inout VerificationFindings) throws {
        do {
            if let corruption = found.report.corruption { throw CacheError.corruptIndex(corruption) }
            try mendNext(&found)
        } catch {
            guard case .corruptIndex(let corruption) = CacheError(error) else { throw error }
            try rebuildIndex(found.index)
            let totals = try totals()
            found = VerificationFindings()
            (found.report.entries, found.report.covers) = (totals.entries, totals.blobs)
            (found.report.bytes, found.report.rebuiltEntries) = (totals.liveBytes, totals.entries)
            found.report.add(corruption: corruption, at: directory.index)
            found.isMended = true
        }
    }

    /// - Throws: `CacheError.noCovers` if no cover has a file: their folder is more likely to be elsewhere than lost. `.corruptIndex` if the
    ///   index must be set aside.
    private func mendNext(_ found: inout VerificationFindings) throws {
        found.report.unreadable = found.unreadable
        if !found.damaged.isEmpty {
            if try covers.folders().isEmpty { throw CacheError.noCovers(covers.path) }
            let slice = found.damaged.suffix(Verification.slice)
            found.report.dropped += try index.freeing { changes in
                try slice.count { cover in
                    // It may have been downloaded again since.
                    guard let row = try index.table.cover(cover.digest), row.id == cover.id,
                        try covers.read(cover.digest, length: cover.length) == nil
                    else { return false }
                    try changes.removeCover(row)
                    return true
                }
            }
            return found.damaged.removeLast(slice.count)
        }
        for digest in found.damagedSizes { _ = index.directory.sizes.remove(digest) }
        if found.hasWrongCounts { try recount() }
        try sweep()
        index.marker.leave()
        try index.marker.sweepIfNeeded(removeUnnamed)
        found.isMended = true
    }
}

/// A cover to store whose bytes are in memory: from a pack or a person.
package struct ImportedCover: Sendable {
    package var metadata: EntryMetadata
    package let body: [UInt8]
    /// Of `body`.
    package let digest: Digest

    /// - Parameter digest: of `body`, if the caller has compared them; nil to compute it.
    package init(_ metadata: EntryMetadata, _ body: [UInt8], _ digest: Digest? = nil) {
        (self.metadata, self.body) = (metadata, body)
        self.digest = digest ?? Digest(of: body)
    }
}
