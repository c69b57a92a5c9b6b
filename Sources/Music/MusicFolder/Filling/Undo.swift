import AlbumLibrary
import Files
package import Platform

/// Takes back what fills have written, cover files and pictures in tags alike: a loop over rows, the newest first.
package struct Undo {
    /// What became of a row, which is where its file is by now.
    package typealias Step = (row: Written, step: UndoStep)

    private let state: MusicState
    private let lane: TagLane
    private let cached: (Digest) -> String
    private let isDryRun: Bool
    /// Where the albums are.
    private let records: [AlbumRecord]
    private lazy var files = ScannedFiles(roots: (try? state.roots()) ?? [])
    /// The pictures in tags that are to be taken back, and the songs that have one, by their audio.
    private var pictures: Set<Digest> = []
    private lazy var songs = Result { try songsByAudio() }

    /// - Parameters:
    ///   - isDryRun: Say what would be done, and do nothing.
    ///   - start: Starts a worker, which reads and changes tags.
    ///   - isCancelled: Called before each row.
    ///   - cached: The path of a cached cover's file. Covers that were kept need none.
    /// - Returns: The fill that was taken back, nil if none was, and each row with what became of it. Rows that earlier undos could not take back
    ///   are tried first: if one of them can be taken back now, no other fill is. A fill that was killed in its first file has no rows.
    /// - Throws: `MusicState.Problem` or `TagLane.Unavailable`.
    package static func run(
        _ state: MusicState, isDryRun: Bool = false, start: @escaping TagWorkerProcess.Start,
        isCancelled: @escaping @Sendable () -> Bool = { false },
        onStep: @Sendable (Step) -> Void = { _ in }, cached: @escaping @Sendable (Digest) -> String
    ) throws -> (run: Int64?, steps: [Step]) {
        // What a killed fill had begun is put back by now, which is all that it wrote: the fill before it is not taken back for it.
        let interrupted = try state.interruptedFill()
        let lane = TagLane(start: start, timeout: .seconds(30), isCancelled: isCancelled)
        if !isDryRun {
            try state.settleBegun { row in
                guard row.kind == .tags else { return nil }
                return try lane.read([row.path]).first.flatMap { try? $0.get() }.map { $0.picture?.digest }
            }
        }
        var undo = Undo(state: state, lane: lane, cached: cached, isDryRun: isDryRun, records: try state.albums())
        defer { if !isDryRun { state.sweepKept() } }
        let open = try undo.takeBack(try state.written(ofRun: nil), isCancelled, onStep)
        if open.contains(where: \.step.isDone) { return (nil, open) }
        if let interrupted { return (interrupted, open) }
        guard let run = try state.runs().first else { return (nil, open) }
        let rows = try state.written(ofRun: run)
        let steps = try undo.takeBack(rows, isCancelled, onStep)
        if !isDryRun, steps.count == rows.count { try state.setUndone(run: run) }
        return (run, steps)
    }

    private mutating func takeBack(
        _ rows: [Written], _ isCancelled: () -> Bool, _ onStep: (Step) -> Void
    ) throws -> [Step] {
        var steps: [Step] = []
        pictures.formUnion(rows.filter { $0.kind == .tags }.map(\.digest))
        for row in rows where !isCancelled() {
            var row = row
            var step: UndoStep
            do {
                step = try decide(&row)
                if !isDryRun { step = try take(step, row) }
            } catch is CancellationError {
                break
            } catch {
                guard let reason = Self.reason(error) else { throw error }
                step = .fail(reason: reason)
            }
            steps.append((row, step))
            onStep((row, step))
        }
        return steps
    }

    private static func reason(_ error: any Error) -> String? {
        switch error {
        case let refusal as OwnFile.Refusal: refusal.reason
        case is CachedCover.Damaged: UndoStep.uncached
        default: Embedder.reason(error)
        }
    }

    // MARK: Looking

    private mutating func decide(_ row: inout Written) throws -> UndoStep {
        let found = try find(&row)
        let replaced = try row.replaced.flatMap { try state.written(number: $0) }
        let newer = try state.newer(than: row)
        let cached = cached
        let former = try replaced.flatMap { try $0.album == album(at: row) && !state.isRefused($0) ? $0 : nil }
        return UndoStep(row, found, replaced: former, newer: newer?.digest) {
            access(state.replacedCover($0, cached: cached), R_OK) == 0
        }
    }

    /// The album that is in a row's place now: another one may have its folder, and a record stays when its album is gone.
    private func album(at row: Written) -> Album.ID {
        let places = records.filter { !$0.isGone }.flatMap { record in record.places.map { (id: record.id, place: $0) }
        }
        .filter { $0.place.allFolders.contains(row.folder) }
        let there = places.filter(\.place.hasItsSongs)
        for found in [places, there] where Set(found.map(\.id)).count == 1 { return found[0].id }
        return row.album
    }

    /// What is in the place of a row, which may be another one by now.
    private mutating func find(_ row: inout Written) throws -> UndoStep.Found {
        // Another file may have its name by now, as folders change theirs; what was removed is looked for nowhere else then.
        let isHere = row.kind == .file && row.state != .removed ? row.isUnchanged : row.isThere
        if !isHere, let place = try otherPlace(of: row) {
            if isDryRun {
                (row.folder, row.name) = place
            } else {
                row = try state.move(row, to: place.folder, name: place.name)
            }
        }
        let folder: OpenFolder
        do throws(SystemError) {
            folder = try OpenFolder(path: row.folder.bytes)
        } catch {
            guard error.cause == .missing || error.cause == .notAFolder else { throw error }
            return try state.isAway(row.folder, disk: row.disk) ? .away : .nothing
        }
        guard let name = FileName(row.name), try folder.status(of: name) != nil else {
            return row.disk.map { $0 != folder.disk } ?? false ? .away : .nothing
        }
        if row.kind == .file {
            return try OwnFile(name, in: folder, state.journal).digest().map { .bytes($0) } ?? .other
        }
        guard let tags = try lane.read([row.path]).first?.get() else { throw CancellationError() }
        return tags.picture.map { .bytes($0.digest) } ?? .nothing
    }

    /// A file that was moved or renamed is known by its bytes, a song with other tags by its audio. A person's copy has its original beside it, and
    /// what is another row's is not this one's.
    private mutating func otherPlace(of row: Written) throws -> (folder: BytePath, name: [UInt8])? {
        for folder in MusicState.otherPlaces(of: row.folder, below: row.root, among: try state.roots()) {
            let names =
                try row.kind == .tags
                ? names(ofSongsWithoutRowIn: folder) : state.copies(of: row, in: [folder]).map(\.name)
            if names.contains(row.name) { return (folder, row.name) }
        }
        let places = records.first { $0.id == row.album }?.places.flatMap(\.allFolders) ?? []
        if let found = try state.copies(of: row, in: places).first { return found }
        if let found = try song(of: row, in: places) { return found }
        var found = try state.copies(of: row, in: files.folders(withFilesAs: row))
        // A person's copy is not beside the songs of the album.
        if found.count > 1 {
            let record = records.first { $0.id == row.album }
            let place = record?.places.first { $0.allFolders.contains(row.folder) }
            found = found.filter { AlbumPlace.namesDigest([$0.folder]) == place?.namesDigest }
        }
        if found.isEmpty, let audio = row.song?.audio { found = try songs.get()[audio] ?? [] }
        return found.count == 1 ? found[0] : nil
    }

    /// The songs that have a picture of the rows and no row of their own, in folders that are new since the last scan, or in which it has found
    /// such a picture: their tags may have been edited, too.
    private mutating func songsByAudio() throws -> [Digest: [(folder: BytePath, name: [UInt8])]] {
        let places = records.flatMap(\.places)
        let known = Set(places.flatMap(\.folders))
        let marked = places.filter { $0.embedded.map { pictures.contains($0.digest) } ?? false }.flatMap(\.folders)
        var songs: [Digest: [(folder: BytePath, name: [UInt8])]] = [:]
        for folder in Set(marked).union(files.folders.subtracting(known)).sorted() {
            let names = try names(ofSongsWithoutRowIn: folder)
            for (name, tags) in zip(names, try lane.read(names.map { folder.appending($0) })) {
                guard let picture = try? tags.get().picture?.digest, pictures.contains(picture) else { continue }
                if let audio = try lane.audio(of: folder.appending(name)) {
                    songs[audio, default: []].append((folder, name))
                }
            }
        }
        return songs
    }

    /// The song of an album that has a row's audio and picture, whatever its name and its tags.
    private func song(of row: Written, in folders: [BytePath]) throws -> (folder: BytePath, name: [UInt8])? {
        guard let audio = row.song?.audio else { return nil }
        for folder in Set(folders).sorted() {
            for name in try names(ofSongsWithoutRowIn: folder)
            where try lane.audio(of: folder.appending(name)) == audio {
                return (folder, name)
            }
        }
        return nil
    }

    private func names(ofSongsWithoutRowIn folder: BytePath) throws -> [[UInt8]] {
        let known = Set(try state.history(of: folder).filter(\.isInPlace).map(\.name))
        let names = ((try? OpenFolder(path: folder.bytes).names()) ?? []).map(\.bytes)
        return names.filter { MusicNames.isWrittenAudio($0) && !known.contains($0) }
    }

    // MARK: Acting

    /// - Returns: What was done.
    private func take(_ step: UndoStep, _ row: Written) throws -> UndoStep {
        switch step {
        case .remove:
            return try leave(row) { leaving in
                let isRemoved = try remove(row)
                try state.setUndone(leaving)
                return isRemoved ? step : .keep
            }
        case .restore(let replaced):
            return try leave(row) { leaving in
                let isRestored = try restore(replaced, of: row)
                try state.set(leaving, .undone)
                return isRestored ? step : .keep
            }
        case .keep:
            try state.setUndone(row)
            // What a scan has noticed stays known.
            if row.state == .removed { try state.save(row) }
        case .stayAway:
            // A folder that is gone may come back with other music. If an undo has taken the same picture out since, no person has.
            let same = try state.history(of: row.folder).filter { $0.path == row.path && $0.digest == row.digest }
            let isTakenBack = row.state == .there && same.contains { $0.state == .undone && $0.time > row.time }
            let isRemoval = row.kind == .file ? row.folder.device != nil && !isTakenBack : row.isThere
            if !isRemoval { try state.set(row, .undone) } else if row.state == .there { try state.setRemoved(row) }
        case .wait, .away, .fail: break
        }
        return step
    }

    private func leave(_ row: Written, _ body: (Written) throws -> UndoStep) throws -> UndoStep {
        var leaving = row
        // Tags may have been edited since they were written.
        if let name = FileName(row.name), row.kind == .tags {
            let file = OwnFile(name, in: try OpenFolder(path: row.folder.bytes), state.journal)
            leaving.song?.file = try file.digest() ?? row.fileDigest
        }
        return try state.leave(row, as: leaving, body)
    }

    /// - Returns: False for a song with other audio, which is a person's.
    private func remove(_ row: Written) throws -> Bool {
        let folder = try OpenFolder(path: row.folder.bytes)
        guard row.kind == .tags else {
            try state.remove(row, in: folder)
            return true
        }
        folder.sweep()
        guard try writer(row, folder).remove(row) else { return false }
        try folder.sync()
        return true
    }

    private func writer(_ row: Written, _ folder: OpenFolder) -> TagWriter {
        TagWriter(lane: lane, state: state, folder: folder, path: row.path)
    }

    /// - Returns: False if what is there is a person's.
    private func restore(_ replaced: Written, of row: Written) throws -> Bool {
        let folder = try OpenFolder(path: row.folder.bytes)
        folder.sweep()
        let source = state.replacedCover(replaced.digest, cached: cached)
        var restored = replaced
        (restored.folder, restored.root, restored.disk, restored.state) = (row.folder, row.root, row.disk, .there)
        if row.kind == .tags {
            restored.name = row.name
            let cover = try EmbeddableCover(SourceFile(path: source).contents())
            guard try writer(row, folder).putBack(cover, restored, replacing: row) else { return false }
            try folder.sync()
            return true
        }
        guard let name = FileName(row.name), let former = FileName(replaced.name) else { return false }
        let cover = try CachedCover(source, replaced.digest)
        let (file, new) = (OwnFile(name, in: folder, state.journal), try cover.copy(in: folder))
        restored.modified = FileStatus(try new.status()).modified
        if former == name {
            if try file.digest() != replaced.digest { try file.replace(.init(row.digest, isSleeves: true), by: new) }
        } else {
            if let status = try folder.status(of: name) {
                new.setOwner(status.st_uid, status.st_gid, mode: status.st_mode)
            }
            try new.sync()
            let file = OwnFile(former, in: folder, state.journal)
            if try file.digest() != replaced.digest { try file.create(new) }
            _ = try remove(row)
        }
        try state.save(restored)
        return true
    }
}

extension UndoStep {
    /// Whether something was done.
    fileprivate var isDone: Bool { isTakenBack || self == .keep || self == .stayAway }

    /// Whether what was written is in its place no more.
    package var isTakenBack: Bool {
        switch self {
        case .remove, .restore: true
        case .keep, .stayAway, .wait, .away, .fail: false
        }
    }
}

/// The files of all scanned folders, which are listed once they are asked for.
private struct ScannedFiles {
    private(set) var folders: Set<BytePath> = []
    private var byLength: [Int64: Set<BytePath>] = [:]

    init(roots: [BytePath]) {
        var found = self
        var walk = FolderWalk(followsOutside: false) { event in
            guard case .folder(let listing) = event else { return }
            found.folders.insert(listing.path)
            for file in listing.audio + listing.pictures { found.byLength[file.size, default: []].insert(listing.path) }
        }
        for root in roots { try? walk.walk(root) }
        self = found
    }

    func folders(withFilesAs row: Written) -> [BytePath] {
        row.length.flatMap { byLength[Int64($0)] }.map { Array($0) } ?? []
    }
}

/// What becomes of one row when its fill is taken back. Decided from what is remembered and what is there, without a disk.
package enum UndoStep: Sendable, Hashable {
    /// It goes.
    case remove
    /// What it replaced comes back.
    case restore(Written)
    /// A person has changed it. It stays as it is, and is a person's.
    case keep
    /// A person has removed it. That stays known, so that no fill writes it again.
    case stayAway
    /// A newer fill has replaced it, and was not taken back.
    case wait
    /// Its disk is not there. The next undo tries again.
    case away
    /// It cannot be taken back now. The next undo tries again.
    case fail(reason: String)

    /// What is in the place.
    package enum Found: Sendable, Hashable {
        case bytes(Digest)
        /// A folder, a link, a pipe.
        case other
        case nothing
        case away
    }

    static let uncached = "the cover that it replaced is not cached any more"

    /// Why a row stays for the next undo; empty if it does not.
    package var obstacle: String {
        switch self {
        case .wait: "a later fill has replaced it"
        case .away: MusicState.awayReason
        case .fail(let reason): reason
        case .remove, .restore, .keep, .stayAway: ""
        }
    }

    /// - Parameters:
    ///   - replaced: The row that it replaced, if that is of the album that is there now.
    ///   - newer: The picture of the row that replaced this one.
    init(_ row: Written, _ found: Found, replaced: Written?, newer: Digest? = nil, isCached: (Digest) -> Bool) {
        switch found {
        case .away: self = .away
        case .nothing: self = newer == nil ? .stayAway : .wait
        case .bytes(row.digest):
            guard let replaced else {
                self = .remove
                return
            }
            self = isCached(replaced.digest) ? .restore(replaced) : .fail(reason: Self.uncached)
        case .bytes(newer): self = .wait
        // An undo was killed.
        case .bytes(replaced?.digest): self = replaced.map { .restore($0) } ?? .keep
        case .bytes, .other: self = .keep
        }
    }
}
