package import AlbumLibrary
import Files
import Platform

/// Scans music folders and updates a library: in one step for what is new, one for what has changed, and one for what is pruned.
package struct LibraryScan: Sendable {
    package var scan: MusicScan
    package var options = LibraryUpdateOptions()

    package init(_ scan: MusicScan) { self.scan = scan }

    /// What a scan has found and changed.
    package struct Outcome: Sendable {
        package var findings: MusicScan.Findings
        /// The albums of the scanned folders, in the order of their paths.
        package var albums: [ScannedAlbum] = []
        /// What was changed; nil if the scan was cancelled.
        package var update: LibraryUpdate?
        package var pruned = 0
        /// Covers of fills that are gone with most others of their scanned folder. A person removes single ones.
        package var vanished: [Written] = []
    }

    /// Runs the scan. A cancelled one leaves the library as it is; what it has read is remembered.
    /// - Throws: `MusicState.Problem`, `TagLane.Unavailable` or `LibraryError`.
    package func run(
        _ library: AlbumStore, _ state: MusicState, progress: @escaping @Sendable (MusicScan.Progress) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> Outcome {
        var outcome = try await look(state, addsRoots: true, progress: progress, isCancelled: isCancelled)
        if outcome.findings.isCancelled { return outcome }
        let (found, albums) = (outcome, try await library.all())
        let (scanned, update, vanished) = try await WorkThread.run {
            var (scanned, update) = (found.albums, try self.update(found.albums, found.findings, albums, state))
            let identified = zip(update.ids, scanned).compactMap { id, album in id.map { ($0, album) } }
            let rows = try state.follow(
                Dictionary(identified) { first, _ in first }, in: found.findings.folders,
                countsAllRemoved: options.countsAllRemoved)
            if rows.hasMoved {
                // Covers that fills wrote have other paths by now, those in tags, too.
                scanned = try self.albums(of: found.findings, state)
                update = try self.update(scanned, found.findings, albums, state)
            }
            try state.add(update.inherited)
            // The records first, marked: if the process dies after the library has changed, the next one knows the albums as its own.
            try state.save(update.records, removing: update.removedRecords)
            try state.acceptAddresses(of: albums)
            return (scanned, update, rows.vanished)
        }
        (outcome.albums, outcome.update, outcome.vanished) = (scanned, update, vanished)
        if !update.additions.isEmpty { try await library.insert(update.additions) }
        if !update.edits.isEmpty { try await library.edit(update.edits) }
        if options.prunes, !update.prunable.isEmpty {
            outcome.pruned = try await library.delete(update.prunable)?.changes.count ?? 0
        }
        try await WorkThread.run {
            try state.confirm()
            if options.prunes { try state.removeMissingRoots() }
            let away = try state.away()
            try state.removeFolders(found.findings.goneFolders.filter { !$0.isInside(any: away) })
        }
        return outcome
    }

    private func albums(of findings: MusicScan.Findings, _ state: MusicState) throws -> [ScannedAlbum] {
        AlbumGrouper.albums(
            of: findings.folders, roots: scan.roots, unread: findings.unread, sleeves: try state.sleevesPictures())
    }

    private func update(
        _ scanned: [ScannedAlbum], _ findings: MusicScan.Findings, _ albums: [Album], _ state: MusicState
    ) throws -> LibraryUpdate {
        let away = try state.away()
        return LibraryUpdate(
            scanned, library: albums, records: try state.albums(), decisions: try state.decisions(),
            filled: try state.filledAddresses(), options: options,
            places: .init(
                isGone: findings.isGone, isAway: { $0.isInside(any: away) },
                filled: try state.filled(), resolve: \.withoutLink))
    }

    /// Scans without changing a library. What was read of the folders is remembered.
    /// - Parameter addsRoots: Whether the folders are scanned ones from now on. What fills wrote is then known at their paths.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package func look(
        _ state: MusicState, addsRoots: Bool = false, progress: @escaping @Sendable (MusicScan.Progress) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> Outcome {
        try await WorkThread.run {
            var outcome = Outcome(findings: try scan.run(state, progress: progress, isCancelled: isCancelled))
            if !outcome.findings.isCancelled {
                if addsRoots { try state.add(roots: scan.roots) }
                outcome.albums = try albums(of: outcome.findings, state)
            }
            return outcome
        }
    }
}

extension BytePath {
    /// Where a link leads; any other path as it is.
    fileprivate var withoutLink: BytePath {
        var status = stat()
        guard withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFLNK else { return self }
        return resolved ?? self
    }
}
