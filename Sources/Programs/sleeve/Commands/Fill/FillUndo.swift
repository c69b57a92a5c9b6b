import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder

struct FillUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", _superCommandName: "sleeve fill",
        abstract: "Take back what the last fill wrote, in all folders.",
        discussion: """
            Removes its cover files and its covers in tags, and puts back the covers that it replaced. What was changed since stays. A \
            cover that was accepted is doubtful again. Exits with 3 if something could not be taken back.
            """)

    @Flag(help: "Say what would be removed.")
    var dryRun = false

    @OptionGroup var progress: ProgressOptions
    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.withLibrary { library in
            do {
                try await undo(library, try MusicFolderOptions.openState(library.configuration))
            } catch let problem as MusicState.Problem {
                throw fail(problem.description)
            }
        }
    }

    private func undo(_ library: LibraryAPI, _ state: MusicState) async throws {
        let writer = try CoverWriter(state, name: "cover")
        let embedded = try state.runs().first.map { try state.embeddedCovers(ofRun: $0) } ?? []
        let undone = try await writer.undo(isDryRun: dryRun) { library.coverFile($0) }
        let tags = try await undo(embedded, state)
        var (albums, removed, restored, kept, failed) = (Set<Album.ID>(), 0, 0, tags.kept, tags.failed)
        for (file, step) in undone {
            switch step {
            case .remove:
                (removed, _) = (removed + 1, albums.insert(file.album))
                tell("\(file.path): would be removed")
            case .restore(let replaced):
                restored += 1
                tell("\(file.folder.appending(replaced.name)): the smaller cover would be put back")
            case .keep:
                kept += 1
                Log.warning("\(file.path): was changed since; it stays as it is")
            case .stayAway:
                kept += 1
                Log.warning("\(file.path): \(Self.gone)")
            case .fail(let reason):
                failed += 1
                Log.error("\(file.path): \(reason)")
            case .away:
                failed += 1
                Log.error("\(file.path): \(MusicState.awayReason)")
            }
        }
        if !dryRun { try await forget(albums, library, state) }
        let done = [(removed, "taken back"), (restored, "put back"), (tags.removed, "taken out of tags")].filter {
            $0.0 > 0
        }
        .map { "\(Decimals.count($0, "cover")) \(dryRun ? "would be " : "")\($1)" }
        let isNothing = done.isEmpty && kept + failed == 0
        try editing.options.printResult(
            json: [
                "removed": removed, "restored": restored, "kept": kept, "failed": failed,
                "removedFromTags": tags.removed,
            ],
            text: isNothing ? "There is no fill to take back.\n" : done.map { "\($0).\n" }.joined())
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        if failed > 0 { throw ExitStatus.someFailed }
    }

    private func undo(_ covers: [EmbeddedCover], _ state: MusicState) async throws -> EmbedSummary {
        if covers.isEmpty { return EmbedSummary() }
        return try await FillWork.withEmbedder(
            state, every: progress.interval(editing.options),
            { "\(Decimals.count($0.removed, "cover")) taken out of tags" }
        ) { event in
            switch event {
            case .kept(let path): Log.warning("\(path): its tags or its audio were changed since; it stays as it is")
            case .gone(let path): Log.warning("\(path): \(Self.gone)")
            case .left(let path, let reason): Log.error("\(path): \(reason)")
            case .removed(let path): tell("\(path): the cover would be taken out of its tags")
            case .embedded, .otherFormat, .unwritable: break
            }
        } _: { [dryRun] embedder, observer in
            try await embedder.undo(covers, isDryRun: dryRun, observer)
        }
    }

    private static let gone = "was gone already"

    /// A line of a dry run.
    private func tell(_ line: String) {
        if dryRun, !editing.options.json, !editing.options.quiet { _ = try? printLine(line) }
    }

    /// The library loses the URLs of the covers, unless a person has edited them, and the covers are accepted no longer.
    private func forget(_ albums: Set<Album.ID>, _ library: LibraryAPI, _ state: MusicState) async throws {
        let urls = try state.note(coverURLs: Dictionary(uniqueKeysWithValues: albums.map { ($0, nil) }))
        let found = try await library.albums.all().filter { albums.contains($0.id) }
        try await library.albums.edit(
            found.filter { urls[$0.id] != nil && $0.coverURL == urls[$0.id] }.map { album in
                var former = album
                former.coverURL = nil
                return (album, former)
            })
        guard let memory = SourceMemory.existing(for: library.configuration) else { return }
        for album in found { try await memory.withdrawAcceptance(of: AlbumQuery(album).key) }
    }
}
