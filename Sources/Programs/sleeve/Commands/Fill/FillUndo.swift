import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Synchronization

struct FillUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", _superCommandName: "sleeve fill",
        abstract: "Take back what the last fill wrote, in all folders.",
        discussion: """
            Removes its cover files and its covers in tags, and puts back the covers that it replaced. What was changed since stays. \
            Covers that its command accepted are doubtful again, even those that it could not write. Exits with 3 if something could not be \
            taken back.
            """)

    @Flag(help: "Say what would be removed; with --json, of every file.")
    var dryRun = false

    @OptionGroup var progress: ProgressOptions
    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.withLibrary { library in
            try await undo(library, try MusicFolderOptions.openState(library.configuration))
        }
    }

    private func undo(_ library: LibraryAPI, _ state: MusicState) async throws {
        let writer = try CoverWriter(state, name: FillArguments.Covers.FileStem.standard.rawValue)
        let run = try state.runs().first
        let embedded = try run.map { try state.embeddedCovers(ofRun: $0) } ?? []
        let accepted = Set(try state.acceptances().filter { $0.run == run }.map(\.album))
        let undone = try await writer.undo(isDryRun: dryRun) { library.coverFile($0) }
        let (tags, ofTags, goneSongs) = try await undo(embedded, state)
        // `gone` are those of `kept` that are not there.
        var (kept, failed, gone) = (tags.kept, tags.failed, goneSongs)
        var (removed, restored): ([BytePath], [BytePath]) = ([], [])
        // What is in the place of each file now, by the albums.
        var places: [Album.ID: [BytePath: BytePath?]] = [:]
        for (file, step) in undone {
            switch step {
            case .remove:
                removed.append(file.path)
                places[file.album, default: [:]][file.path] = .some(nil)
            case .restore(let replaced):
                restored.append(file.folder.appending(replaced.name))
                places[file.album, default: [:]][file.path] = restored.last
            case .keep:
                kept += 1
                places[file.album, default: [:]][file.path] = file.path
                Log.warning("\(file.path): was changed since; it stays as it is")
            case .stayAway:
                (kept, gone) = (kept + 1, gone + 1)
                Log.warning("\(file.path): \(Self.gone)")
            case .fail(let reason):
                failed += 1
                Log.error("\(file.path): \(reason)")
            case .away:
                failed += 1
                Log.error("\(file.path): \(MusicState.awayReason)")
            }
        }
        let unwritten = accepted.subtracting(places.keys).count
        if !dryRun, let run { try state.withdrawDecisions(ofRun: run) }
        if !dryRun { try await forget(places, library, state) }
        tell(removed, "would be removed")
        tell(restored, "the former cover would be put back")
        tell(ofTags, "the cover would be taken out of its tags")
        let counts = [(removed.count, "taken back"), (restored.count, "put back"), (tags.removed, "taken out of tags")]
        let done =
            counts.filter { $0.0 > 0 }.map { "\(Decimals.count($0, "cover")) \(dryRun ? "would be " : "")\($1)" }
            + told(withdrawn: unwritten, isAll: undone.isEmpty && embedded.isEmpty)
        let isNothing = done.isEmpty && kept + failed == 0
        let stays = kept + failed - gone
        let stay = stays > 0 ? "; \(Decimals.count(stays, "file")) \(stays == 1 ? "stays" : "stay")" : ""
        let nothing = "Nothing \(dryRun ? "would be" : "was") taken back\(stay).\n"
        try editing.options.printResult(
            Summary(
                removed: removed.count, restored: restored.count, kept: kept, failed: failed,
                removedFromTags: tags.removed, withdrawn: unwritten, dryRun: dryRun,
                files: dryRun ? (removed + restored + ofTags).map { "\($0)" } : nil),
            text: isNothing
                ? "There is no fill to take back.\n" : done.isEmpty ? nothing : done.map { "\($0).\n" }.joined())
        try stopIfSignalled()
        if failed > 0 { throw ExitStatus.someFailed }
    }

    /// - Parameter isAll: Nothing was written for these covers or others.
    private func told(withdrawn count: Int, isAll: Bool) -> [String] {
        let be = dryRun ? "would be" : count == 1 ? "is" : "are"
        let more = isAll ? "; no file was changed" : ""
        return count == 0 ? [] : ["\(Decimals.count(count, "accepted cover")) \(be) doubtful again\(more)"]
    }

    private struct Summary: Encodable {
        var removed = 0, restored = 0, kept = 0, failed = 0, removedFromTags = 0
        /// Covers that are accepted no longer, as nothing was written for them.
        var withdrawn = 0
        let dryRun: Bool
        /// Of a dry run.
        var files: [String]?
    }

    /// - Returns: The counts, the files whose covers are taken out, and the number of those that are gone.
    private func undo(
        _ covers: [EmbeddedCover], _ state: MusicState
    ) async throws -> (EmbedSummary, removed: [BytePath], gone: Int) {
        if covers.isEmpty { return (EmbedSummary(), [], 0) }
        let removed = Mutex<[BytePath]>([])
        let gone = Mutex(0)
        let summary = try await FillWork.withEmbedder(
            state, every: progress.interval(editing.options),
            { ["\(Decimals.count($0.removed, "cover")) taken out of tags"] }
        ) { event in
            switch event {
            case .kept(let path): Log.warning("\(path): its tags or its audio were changed since; it stays as it is")
            case .gone(let path):
                gone.withLock { $0 += 1 }
                Log.warning("\(path): \(Self.gone)")
            case .left(let path, let reason): Log.error("\(path): \(reason)")
            case .removed(let path): removed.withLock { $0.append(path) }
            case .embedded, .otherFormat, .unwritable: break
            }
        } _: { [dryRun] embedder, observer in
            try await embedder.undo(covers, isDryRun: dryRun, observer)
        }
        return (summary, removed.withLock { $0 }, gone.withLock { $0 })
    }

    private static let gone = "was gone already"

    /// Lists the first files in a dry run.
    private func tell(_ files: [BytePath], _ what: String) {
        guard dryRun, !editing.options.json, !editing.options.quiet else { return }
        MessageList("file") { _ = try? printLine($0) }
            .print(files.map { "\($0): \(what)" }, ": \(what); --json lists them all")
    }

    /// The library loses the files and the URLs of the covers, unless a person has edited them. A file that is in the place of a cover counts
    /// instead.
    private func forget(
        _ places: [Album.ID: [BytePath: BytePath?]], _ library: LibraryAPI, _ state: MusicState
    ) async throws {
        let urls = try state.note(coverURLs: places.mapValues { _ in nil })
        let all = try await library.albums.all()
        try await library.albums.edit(
            all.compactMap { former in
                var album = former
                guard let own = places[album.id] else { return nil }
                if let url = urls[album.id], album.coverURL == url { album.coverURL = nil }
                let file = album.coverFilePath.map { BytePath(bytes: $0) }
                if file.map({ own[$0] != nil }) ?? (album.coverURL == nil) {
                    album.coverFilePath = own.values.compactMap(\.self).min()?.bytes
                    if Cover(fileOf: album) == nil { album.coverFilePath = nil }
                }
                return album == former ? nil : (former, album)
            })
    }
}
