import Files
import Platform

/// Writes covers into the tags of audio files that have no picture, and takes them out again. A picture that is there is never replaced.
///
/// The files are read by worker processes, as in a scan, which also make the changed copies. One file is written after the other.
package struct Embedder: Sendable {
    private let start: TagWorkerProcess.Start
    private let state: MusicState
    /// For reading one file.
    package var timeout: Duration = .seconds(30)
    private let prepare: @Sendable ([UInt8]) throws -> [UInt8]

    /// - Parameters:
    ///   - state: The embedder's while it runs.
    ///   - start: Starts a worker.
    ///   - prepare: Prepares the bytes of a cover, for example by making it smaller.
    package init(
        _ state: MusicState, start: @escaping TagWorkerProcess.Start,
        prepare: @escaping @Sendable ([UInt8]) throws -> [UInt8] = { $0 }
    ) {
        (self.state, self.start, self.prepare) = (state, start, prepare)
    }

    /// Where a run tells its results, and learns of its end. All are called from another thread.
    package struct Observer: Sendable {
        var onEvent: @Sendable (EmbedEvent) -> Void
        var progress: @Sendable (EmbedSummary) -> Void
        var isCancelled: @Sendable () -> Bool

        package init(
            onEvent: @escaping @Sendable (EmbedEvent) -> Void, progress: @escaping @Sendable (EmbedSummary) -> Void,
            isCancelled: @escaping @Sendable () -> Bool
        ) { (self.onEvent, self.progress, self.isCancelled) = (onEvent, progress, isCancelled) }
    }

    /// Runs work on a thread of its own, and counts what it notes.
    private func counting(
        _ observer: Observer, _ body: @escaping @Sendable (TagLane, _ note: (EmbedEvent) -> Void) throws -> Void
    ) async throws -> EmbedSummary {
        try await WorkThread.run {
            var summary = EmbedSummary()
            try body(TagLane(start: start, timeout: timeout, isCancelled: observer.isCancelled)) { event in
                summary.add(event)
                observer.onEvent(event)
                observer.progress(summary)
            }
            return summary
        }
    }

    // MARK: Embedding

    /// Embeds the cover file of each album's folder into its files.
    /// - Parameter run: Identifies the fill; nil to write nothing, and report what would be embedded.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package func run(_ jobs: [EmbedJob], run: Int64?, _ observer: Observer) async throws -> EmbedSummary {
        try await counting(observer) { lane, note in
            for job in jobs {
                for path in job.folders where !observer.isCancelled() {
                    do {
                        let folder = try OpenFolder(path: path.bytes)
                        guard let cover = try cover(of: job, in: path, note) else { continue }
                        try embed(cover, of: job, path, folder, lane, run: run, observer.isCancelled, note)
                    } catch let error as SystemError {
                        note(.unwritable(folder: path, reason: error.reason))
                    }
                }
            }
        }
    }

    /// - Parameter run: nil to write nothing.
    private func embed(
        _ cover: EmbeddableCover, of job: EmbedJob, _ path: BytePath, _ folder: OpenFolder, _ lane: TagLane,
        run: Int64?,
        _ isCancelled: () -> Bool, _ note: (EmbedEvent) -> Void
    ) throws {
        var files: [(path: BytePath, size: Int)] = []
        for name in try folder.names().sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        where !name.bytes.starts(with: ".".utf8) {
            if MusicNames.isUnreadAudio(name.bytes) { note(Self.otherFormat(path.appending(name.bytes))) }
            guard MusicNames.isAudio(name.bytes) else { continue }
            guard let status = try folder.status(of: name), status.st_mode & S_IFMT == S_IFREG else { continue }
            files.append((path.appending(name.bytes), Int(status.st_size)))
        }
        let writer = TagWriter(lane: lane, state: state)
        var isChanged = false
        defer { if isChanged { try? folder.sync() } }
        for (file, result) in zip(files, try lane.read(files.map(\.path))) where !isCancelled() {
            // What cannot be read was reported by the scan.
            guard let tags = try? result.get(), tags.picture == nil, job.contains(tags.album) else { continue }
            guard MusicNames.isWrittenAudio(file.path.name) else {
                note(Self.otherFormat(file.path))
                continue
            }
            do {
                let bytes =
                    try run.map { try writer.add(cover, to: .init(folder: folder, path: file.path), run: $0) }
                    ?? file.size + cover.bytes.count
                isChanged = run != nil
                note(.embedded(file.path, bytes: bytes))
            } catch is CancellationError {
                return
            } catch let problem as EmbeddingProblem {
                note(.left(file.path, reason: problem.reason))
            } catch let format as OtherFormat {
                note(.otherFormat(file.path, format: format.name))
            } catch let failure as TagRecord.Failure {
                note(.left(file.path, reason: failure.reason))
            } catch let error as SystemError where error.cause == .other || error.cause == .missing {
                note(.left(file.path, reason: error.reason))
            }
        }
    }

    private static func otherFormat(_ path: BytePath) -> EmbedEvent {
        .otherFormat(path, format: (MusicNames.fileExtension(path.name) ?? "").uppercased())
    }

    /// The cover beside the audio, or in the folder of the discs; nil without one.
    private func cover(of job: EmbedJob, in folder: BytePath, _ note: (EmbedEvent) -> Void) throws -> EmbeddableCover? {
        for path in [folder] + job.coverFolders {
            let folder = try OpenFolder(path: path.bytes)
            let entries = try folder.names().compactMap { name in
                try folder.status(of: name).map { FolderListing.Entry(name.bytes, FileStatus($0)) }
            }
            guard let best = CoverName.best(of: entries, album: job.title), let name = FileName(best.name) else {
                continue
            }
            do {
                let file = try folder.file(name)
                guard file.length <= CoverFacts.maximumLength else {
                    throw EmbeddingProblem(reason: "is too large for tags")
                }
                return try EmbeddableCover(prepare(file.contents()))
            } catch let problem as EmbeddingProblem {
                note(.left(path.appending(best.name), reason: problem.reason))
                return nil
            }
        }
        return nil
    }

    // MARK: Undo

    /// Removes covers from the tags into which a fill has written them, if they are still there and the audio is the same. Other changes of
    /// the tags stay.
    /// - Parameter isDryRun: Say what would be done, and do nothing.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package func undo(
        _ covers: [EmbeddedCover], isDryRun: Bool = false, _ observer: Observer
    ) async throws -> EmbedSummary {
        try await counting(observer) { lane, note in
            for cover in covers where !observer.isCancelled() {
                do {
                    let cover = try found(cover)
                    let isRemoved = try undo(cover, isDryRun, lane)
                    if !isDryRun { try state.forget(cover) }
                    note(isRemoved ? .removed(cover.path) : .kept(cover.path))
                } catch is CancellationError {
                    return
                } catch let error as SystemError where error.cause == .missing || error.cause == .notAFolder {
                    if try state.isAway(cover.folder, disk: cover.disk) {
                        note(.left(cover.path, reason: MusicState.awayReason))
                        continue
                    }
                    if !isDryRun { try state.forget(cover) }
                    note(.kept(cover.path))
                } catch let error as SystemError {
                    note(.left(cover.path, reason: error.reason))
                } catch let problem as EmbeddingProblem {
                    note(.left(cover.path, reason: problem.reason))
                } catch let format as OtherFormat {
                    note(.left(cover.path, reason: "is \(format.name), whose tags are not written"))
                } catch let failure as TagRecord.Failure {
                    note(.left(cover.path, reason: failure.reason))
                }
            }
        }
    }

    /// The cover where its file is now.
    private func found(_ cover: EmbeddedCover) throws -> EmbeddedCover {
        let isThere: (BytePath) -> Bool = { folder in folder.appending(cover.name).withCString { access($0, F_OK) } == 0
        }
        if isThere(cover.folder) { return cover }
        guard let place = try state.otherPlaces(of: cover.folder, below: cover.root).first(where: isThere) else {
            return cover
        }
        try state.move(cover, to: place)
        var moved = cover
        moved.folder = place
        return moved
    }

    private func undo(_ cover: EmbeddedCover, _ isDryRun: Bool, _ lane: TagLane) throws -> Bool {
        let folder = try OpenFolder(path: cover.folder.bytes)
        if !isDryRun { folder.sweep() }
        guard let name = FileName(cover.name) else { return false }
        guard try folder.status(of: name) != nil else {
            if let disk = cover.disk, disk != folder.disk {
                throw SystemError("open", path: folder.path, number: ENOENT)
            }
            return false
        }
        guard let tags = try lane.read([cover.path]).first?.get() else { throw CancellationError() }
        guard tags.picture?.digest == cover.picture.description else { return false }
        if isDryRun { return true }
        let target = TagWriter.Target(folder: folder, path: cover.path)
        let isRemoved = try TagWriter(lane: lane, state: state).remove(cover, from: target)
        if isRemoved { try folder.sync() }
        return isRemoved
    }
}
