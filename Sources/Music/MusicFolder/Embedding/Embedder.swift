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

    /// - Parameters:
    ///   - state: The embedder's while it runs.
    ///   - start: Starts a worker.
    package init(_ state: MusicState, start: @escaping TagWorkerProcess.Start) {
        (self.state, self.start) = (state, start)
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

    /// Embeds the cover of each album, or that of each of its folders, into its files.
    /// - Parameter run: Identifies the fill; nil to write nothing, and report what would be embedded.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package func run(_ jobs: [EmbedJob], run: Int64?, _ observer: Observer) async throws -> EmbedSummary {
        try await counting(observer) { lane, note in
            for job in jobs {
                for path in job.songs.keys.sorted() where !observer.isCancelled() {
                    do {
                        guard let cover = try cover(of: job, in: path, note) else { continue }
                        try embed(cover, of: job, path, lane, run: run, observer.isCancelled, note)
                    } catch let error as SystemError {
                        note(.unwritable(folder: path, reason: error.reason))
                    }
                }
            }
        }
    }

    /// - Parameter run: nil to write nothing.
    private func embed(
        _ cover: EmbeddableCover, of job: EmbedJob, _ path: BytePath, _ lane: TagLane, run: Int64?,
        _ isCancelled: () -> Bool, _ note: (EmbedEvent) -> Void
    ) throws {
        let folder = try OpenFolder(path: path.bytes)
        var files: [(path: BytePath, size: Int, tag: String)] = []
        for name in try folder.names().sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        where !name.bytes.starts(with: ".".utf8) {
            if MusicNames.isUnreadAudio(name.bytes), job.cover == nil {
                note(Self.otherFormat(path.appending(name.bytes)))
            }
            guard let tag = job.songs[path]?[Song.hash(of: name.bytes)], MusicNames.isAudio(name.bytes) else {
                continue
            }
            guard let status = try folder.status(of: name), status.st_mode & S_IFMT == S_IFREG else { continue }
            files.append((path.appending(name.bytes), Int(status.st_size), tag))
        }
        let writer = TagWriter(lane: lane, state: state)
        var isChanged = false
        defer { if isChanged { try? folder.sync() } }
        for (file, result) in zip(files, try lane.read(files.map(\.path))) where !isCancelled() {
            // What cannot be read was reported by the scan. Tags that were edited since may be another album's.
            guard let tags = try? result.get(), tags.picture == nil, tags.album == file.tag else { continue }
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
            } catch let format as OtherFormat {
                note(.otherFormat(file.path, format: format.name))
            } catch {
                if let error = error as? SystemError, error.cause != .other, error.cause != .missing { throw error }
                guard let reason = Self.reason(error) else { throw error }
                note(.left(file.path, reason: reason))
            }
        }
    }

    /// Why one file stays as it is; nil for an error that ends the run.
    private static func reason(_ error: any Error) -> String? {
        switch error {
        case let problem as EmbeddingProblem: problem.reason
        case let format as OtherFormat: "is \(format.name), whose tags are not written"
        case let failure as TagFailure: failure.reason
        case let error as SystemError: error.reason
        default: nil
        }
    }

    private static func otherFormat(_ path: BytePath) -> EmbedEvent {
        .otherFormat(path, format: (MusicNames.fileExtension(path.name) ?? "").uppercased())
    }

    /// The cover that is the album's alone; else the one beside the audio, or in the folder of the discs; nil without one.
    private func cover(of job: EmbedJob, in folder: BytePath, _ note: (EmbedEvent) -> Void) throws -> EmbeddableCover? {
        if let cover = job.cover {
            return try prepared(SourceFile(path: cover.bytes)) {
                note(.left(folder, reason: "the cover of \(job.title) \($0)"))
            }
        }
        for path in [folder] + job.coverFolders {
            let folder = try OpenFolder(path: path.bytes)
            guard let cover = try state.cover(job.titles, in: folder, at: path), let name = FileName(cover.path.name)
            else { continue }
            return try prepared(folder.file(name)) { note(.left(cover.path, reason: $0)) }
        }
        return nil
    }

    private func prepared(_ file: borrowing SourceFile, _ refuse: (String) -> Void) throws -> EmbeddableCover? {
        do {
            guard file.length <= RegularFile.maximumPictureLength else {
                throw EmbeddingProblem(reason: "is too large for tags")
            }
            return try EmbeddableCover(file.contents())
        } catch let problem as EmbeddingProblem {
            refuse(problem.reason)
            return nil
        }
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
                    note(.gone(cover.path))
                } catch {
                    guard let reason = Self.reason(error) else { throw error }
                    note(.left(cover.path, reason: reason))
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
            throw SystemError("open", path: folder.path(of: name), number: ENOENT)
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
