import CoverSources
import Files
package import Platform

/// Writes covers into the tags of audio files that have no picture. A picture that is there is never replaced, unless a fill wrote it and a
/// person has accepted another one.
///
/// The files are read by worker processes, as in a scan, which also make the changed copies. One file is written after the other.
package struct Embedder: Sendable {
    private let start: TagWorkerProcess.Start
    private let state: MusicState
    private let options: FillOptions
    /// For reading one file.
    package var timeout: Duration = .seconds(30)

    /// - Parameters:
    ///   - state: The embedder's while it runs.
    ///   - start: Starts a worker.
    package init(
        _ state: MusicState, options: FillOptions = .init(), start: @escaping TagWorkerProcess.Start
    ) {
        (self.state, self.options, self.start) = (state, options, start)
    }

    /// Embeds the cover of each album, or that of each of its folders, into its files. The closures are called from another thread.
    /// - Parameter run: Identifies the fill; nil to write nothing, and report what would be embedded.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package func run(
        _ jobs: [EmbedJob], run: Int64?, onEvent: @escaping @Sendable (EmbedEvent) -> Void,
        progress: @escaping @Sendable (EmbedSummary) -> Void, isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> EmbedSummary {
        try await WorkThread.run {
            let lane = TagLane(start: start, timeout: timeout, isCancelled: isCancelled)
            var summary = EmbedSummary()
            func note(_ event: EmbedEvent) {
                summary.add(event)
                onEvent(event)
                progress(summary)
            }
            for job in jobs {
                for path in job.songs.keys.sorted() where !isCancelled() {
                    do {
                        guard let (cover, picture) = try cover(of: job, in: path, note) else { continue }
                        if let objection = try state.mayWrite(picture, for: job.album, options) {
                            note(.refused(picture.path, objection))
                            continue
                        }
                        try embed(cover, picture, of: job, path, lane, run: run, isCancelled, note)
                    } catch let error as SystemError {
                        note(.unwritable(folder: path, reason: error.reason))
                    }
                }
            }
            return summary
        }
    }

    /// - Parameter run: nil to write nothing.
    private func embed(
        _ cover: EmbeddableCover, _ picture: FillPicture, of job: EmbedJob, _ path: BytePath, _ lane: TagLane,
        run: Int64?, _ isCancelled: () -> Bool, _ note: (EmbedEvent) -> Void
    ) throws {
        let folder = try OpenFolder(path: path.bytes)
        let files = try files(of: job, in: folder, path, note)
        let isAccepted = try state.decisions(of: job.album).ruling(on: picture.name) == .accepted
        let outdated = try state.outdatedPictures(before: picture)
        let rows = try state.history(of: path).filter { $0.kind == .tags && $0.isInPlace }
        var isChanged = false
        defer { if isChanged { try? folder.sync() } }
        for (file, result) in zip(files, try lane.read(files.map(\.path))) where !isCancelled() {
            // What cannot be read was reported by the scan. Tags that were edited since may be another album's.
            guard let tags = try? result.get(), tags.album == file.tag else { continue }
            var former: Written?
            if let found = tags.picture {
                former = rows.first { $0.path == file.path && $0.digest == found.digest }
                if isAccepted, former == nil { former = try row(of: file.path, with: found, lane) }
                guard let former, former.digest != cover.digest, isAccepted || outdated.contains(former.digest) else {
                    continue
                }
            }
            guard MusicNames.isWrittenAudio(file.path.name) else {
                note(Self.otherFormat(file.path))
                continue
            }
            do {
                let writer = TagWriter(lane: lane, state: state, folder: folder, path: file.path, options: options)
                let row = try run.map { try writer.add(cover, picture, of: job.album, run: $0, replacing: former) }
                isChanged = run != nil
                let bytes = row?.length ?? file.size + cover.bytes.count
                note(.embedded(file.path, bytes: bytes, isAgain: row?.isAgain ?? false))
            } catch is CancellationError {
                return
            } catch let objection as Objection {
                note(.refused(file.path, objection))
            } catch let format as OtherFormat {
                note(.otherFormat(file.path, format: format.name))
            } catch {
                if let error = error as? SystemError, error.cause != .other, error.cause != .missing { throw error }
                guard let reason = Self.reason(error) else { throw error }
                note(.left(file.path, reason: reason))
            }
        }
    }

    /// The row of a song that was renamed and retagged since, which its audio tells.
    private func row(of song: BytePath, with picture: EmbeddedPicture, _ lane: TagLane) throws -> Written? {
        guard let folder = song.parent else { return nil }
        let strays = try state.strays(with: picture.digest)
        guard !strays.isEmpty, let audio = try lane.audio(of: song) else { return nil }
        return try strays.first { $0.song?.audio == audio }.map { row throws(MusicState.Problem) in
            try state.move(row, to: folder, name: song.name)
        }
    }

    /// The album's files in a folder, each with the album tag that the scan has seen.
    private func files(
        of job: EmbedJob, in folder: OpenFolder, _ path: BytePath, _ note: (EmbedEvent) -> Void
    ) throws -> [(path: BytePath, size: Int, tag: String)] {
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
        return files
    }

    /// Why one file stays as it is; nil for an error that ends the run.
    static func reason(_ error: any Error) -> String? {
        switch error {
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
    private func cover(
        of job: EmbedJob, in folder: BytePath, _ note: (EmbedEvent) -> Void
    ) throws -> (EmbeddableCover, FillPicture)? {
        if let picture = job.cover {
            return try prepared(SourceFile(path: picture.path.bytes)) {
                note(.left(folder, reason: "the cover of \(job.title) \($0)"))
            }.map { ($0, picture) }
        }
        for path in [folder] + job.coverFolders {
            let folder = try OpenFolder(path: path.bytes)
            guard let cover = try state.cover(job.titles, in: folder, at: path), let name = FileName(cover.path.name)
            else { continue }
            let prepared = try prepared(folder.file(name)) { note(.left(cover.path, reason: $0)) }
            guard let prepared else { return nil }
            let row = try state.history(of: path).first {
                $0.isInPlace && $0.path == cover.path && $0.digest == prepared.digest
            }
            // That of an album which was here before, or of tags that were.
            if let row, row.album != job.album || job.outdated.contains(row.number) { continue }
            return (prepared, try picture(prepared.digest, at: cover.path, title: job.title, isSleeves: row != nil))
        }
        return nil
    }

    /// A file that no fill wrote is a person's.
    private func picture(
        _ digest: Digest, at path: BytePath, title: String, isSleeves: Bool
    ) throws -> FillPicture {
        let name = isSleeves ? try state.pictureName(of: digest) : nil
        var picture = FillPicture(
            path: path, digest: digest,
            name: name ?? PictureName(.picture, AlbumQuery(artist: "", title: title), urls: []))
        if let name { picture.name = name } else { picture.giver = .file }
        return picture
    }

    private func prepared(_ file: borrowing SourceFile, _ refuse: (String) -> Void) throws -> EmbeddableCover? {
        do {
            guard file.length <= RegularFile.maximumPictureLength else {
                throw TagFailure(reason: "is too large for tags")
            }
            return try EmbeddableCover(file.contents())
        } catch let problem as TagFailure {
            refuse(problem.reason)
            return nil
        }
    }
}

/// An album in a place, whose cover goes into the tags of its files.
package struct EmbedJob: Sendable {
    /// The id of the album in the library.
    package var album: String
    package var title: String
    /// After which its cover may be named.
    package var titles: Set<String>
    /// As in `ScannedAlbum`: two albums of a folder may have one title.
    package var songs: [BytePath: [UInt32: String]]
    /// Other folders in which the cover may be: the one that contains the discs' folders.
    package var coverFolders: [BytePath]
    /// The numbers of cover files that are not certain for the album any more.
    package var outdated: Set<Int64> = []
    /// A cover that is for the tags alone, as the folders have other albums, too.
    package var cover: FillPicture?

    /// The jobs of scanned albums: places with files that have no picture, or one that an accepted cover may replace. A cover in a folder of
    /// several albums is none of theirs.
    /// - Parameters:
    ///   - albums: With their ids in the library, and the covers that were found for their tags.
    ///   - embedded: The digests of the pictures that fills have written into tags.
    ///   - outdated: The cover files that go into no tags, by their numbers.
    package static func jobs(
        _ albums: [(scanned: ScannedAlbum, id: String, cover: FillPicture?)], replacing embedded: Set<Digest>,
        outdated: Set<Int64> = []
    ) -> [EmbedJob] {
        albums.flatMap { album, id, cover in
            album.places.filter { place in
                (place.embeddedTracks < place.tracks || place.embedded.map { embedded.contains($0.digest) } == true)
                    && (!place.isShared || cover != nil)
            }.map { place in
                EmbedJob(
                    album: id, title: album.title, titles: album.titles,
                    songs: album.songs.filter { place.folders.contains($0.key) },
                    coverFolders: place.coverFolders, outdated: outdated, cover: place.isShared ? cover : nil)
            }
        }
    }
}

/// What became of a file or a folder when covers were embedded.
package enum EmbedEvent: Sendable, Hashable {
    /// - Parameters:
    ///   - bytes: Of the file.
    ///   - isAgain: Whether an undo had taken the same picture out.
    case embedded(BytePath, bytes: Int, isAgain: Bool = false)
    /// The file stays as it is.
    case left(BytePath, reason: String)
    /// Covers are not written into files of this format, which is named as in messages.
    case otherFormat(BytePath, format: String)
    /// No file of the folder can be written.
    case unwritable(folder: BytePath, reason: String)
    /// The cover, or that of one file, may not be written.
    case refused(BytePath, Objection)
}

/// The counts of embedding.
package struct EmbedSummary: Sendable, Hashable {
    /// Files whose tags got a cover.
    package var embedded = 0
    /// Bytes of these files.
    package var bytes = 0
    /// Files, and folders, that could not be written.
    package var failed = 0
    /// Files without a picture into whose format none is written, by the name of the format.
    package var otherFormats: [String: Int] = [:]

    package init() {}

    package mutating func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(_, let bytes, _):
            embedded += 1
            self.bytes += bytes
        case .left, .unwritable: failed += 1
        case .otherFormat(_, let format): otherFormats[format, default: 0] += 1
        case .refused: break
        }
    }
}
