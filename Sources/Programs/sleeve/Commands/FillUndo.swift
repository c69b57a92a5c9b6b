import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform
import Synchronization

struct FillUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", _superCommandName: "sleeve fill",
        abstract: "Take back what the last fill wrote, in all folders.",
        discussion: """
            Removes its cover files and its covers in tags, and puts back the covers that it replaced. What was changed since stays. \
            Covers that its command accepted are doubtful again, even those that it could not write. Exits with 3 if something could not be \
            taken back: the next undo tries that first.
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

    /// What became of the rows.
    private struct Outcome {
        var (removed, restored): ([BytePath], [BytePath]) = ([], [])
        /// Songs.
        var (removedFromTags, restoredInTags): ([BytePath], [BytePath]) = ([], [])
        /// `gone` are those of `kept` that are not there.
        var (kept, gone, failed) = (0, 0, 0)
        /// What is said of files that stay as they are, in the order of the rows.
        private var messages: [(text: String, ofMany: String?, isError: Bool, files: [BytePath: [BytePath]])] = []
        /// What is in the place of each file now, by the albums.
        var places: [Album.ID: [BytePath: BytePath?]] = [:]

        mutating func add(_ row: Written, _ step: UndoStep) {
            switch step {
            case .remove where row.kind == .tags: removedFromTags.append(row.path)
            case .restore where row.kind == .tags: restoredInTags.append(row.path)
            case .remove:
                removed.append(row.path)
                places[row.album, default: [:]][row.path] = .some(nil)
            case .restore(let replaced):
                restored.append(row.folder.appending(replaced.name))
                places[row.album, default: [:]][row.path] = restored.last
            case .keep:
                kept += 1
                if row.kind == .file { places[row.album, default: [:]][row.path] = row.path }
                row.kind == .file
                    ? note(row, "was changed since; it stays as it is", "were changed since; they stay as they are")
                    : note(row, "its tags or its audio were changed since; it stays as it is")
            case .stayAway:
                (kept, gone) = (kept + 1, gone + 1)
                note(row, "was gone already", "were gone already")
            case .wait, .away, .fail:
                failed += 1
                note(row, step.obstacle, isError: true)
            }
        }

        /// - Parameter ofMany: The sentence about several files of a folder, if it is another one.
        private mutating func note(_ row: Written, _ text: String, _ ofMany: String? = nil, isError: Bool = false) {
            let index = messages.firstIndex { $0.text == text } ?? messages.count
            if index == messages.count { messages.append((text, ofMany, isError, [:])) }
            messages[index].files[row.folder, default: []].append(row.path)
        }

        /// Says what stays, each folder once.
        func tellWhatStays() {
            for (text, ofMany, isError, files) in messages {
                let lines = files.sorted { $0.key < $1.key }.map { folder, files in
                    if files.count == 1 { return "\(files[0]): \(text)" }
                    let count = Decimals.count(files.count, "file")
                    return ofMany.map { "\(folder): \(count) \($0)" } ?? "\(folder), \(count): \(text)"
                }
                MessageList("file or folder", "files or folders") { isError ? Log.error($0) : Log.warning($0) }
                    .print(lines, ": \(text)")
            }
        }

        /// What an undo that was killed took back: the library may not know.
        mutating func addUndone(_ row: Written) {
            if places[row.album]?.keys.contains(row.path) == true { return }
            places[row.album, default: [:]][row.path] = .some(row.isThere ? row.path : nil)
        }
    }

    private func undo(_ library: LibraryAPI, _ state: MusicState) async throws {
        let (run, steps) = try await withProgress(
            0, every: progress.interval(editing.options), { ["\(Decimals.count($0, "cover")) taken back"] }
        ) { [dryRun] progress in
            try await WorkThread.run {
                let count = Atomic(0)
                return try Undo.run(
                    state, isDryRun: dryRun, start: try TagsWorker.starter(),
                    isCancelled: { Signals.received != nil },
                    onStep: { _ in progress(count.add(1, ordering: .relaxed).newValue) },
                    cached: { library.coverFile($0) })
            }
        }
        var outcome = Outcome()
        for (row, step) in steps { outcome.add(row, step) }
        outcome.tellWhatStays()
        for row in try run.map(state.undoneFiles) ?? [] { outcome.addUndone(row) }
        let accepted = try run.map { run in Set(try state.acceptances().filter { $0.run == run }.map(\.album)) } ?? []
        let unwritten = accepted.subtracting(steps.filter(\.step.isTakenBack).map(\.row.album)).count
        if !dryRun {
            if let run { try state.withdrawDecisions(ofRun: run) }
            try await forget(outcome.places, library, state)
        }
        let (kept, failed) = (outcome.kept, outcome.failed)
        let (tags, formerTags) = (outcome.removedFromTags, outcome.restoredInTags)
        let be = dryRun ? "would be" : "was"
        tell(outcome.removed, "\(be) removed")
        tell(outcome.restored, "the former cover \(be) put back")
        tell(tags, "the cover \(be) taken out of its tags")
        tell(formerTags, "the former cover \(be) put back into its tags")
        let counts = [
            (outcome.removed.count, "taken back"), (outcome.restored.count, "put back"),
            (tags.count, "taken out of tags"), (formerTags.count, "put back into tags"),
        ]
        let done =
            counts.filter { $0.0 > 0 }.map { "\(Decimals.count($0, "cover")) \(dryRun ? "would be " : "")\($1)" }
            + told(withdrawn: unwritten, isAll: steps.isEmpty)
        let isNothing = run == nil && done.isEmpty && kept + failed == 0
        let stays = kept + failed - outcome.gone
        let stay = stays > 0 ? "; \(Decimals.count(stays, "file")) \(stays == 1 ? "stays" : "stay")" : ""
        let nothing = "Nothing \(dryRun ? "would be" : "was") taken back\(stay).\n"
        try editing.options.printResult(
            Summary(
                removed: outcome.removed.count, restored: outcome.restored.count, kept: kept, failed: failed,
                removedFromTags: tags.count, restoredInTags: formerTags.count, withdrawn: unwritten, dryRun: dryRun,
                files: dryRun ? (outcome.removed + outcome.restored + tags + formerTags).map { "\($0)" } : nil),
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
        var removed = 0, restored = 0, kept = 0, failed = 0, removedFromTags = 0, restoredInTags = 0
        /// Covers that are accepted no longer, as nothing was written for them.
        var withdrawn = 0
        let dryRun: Bool
        /// Of a dry run.
        var files: [String]?
    }

    /// Lists the first files.
    private func tell(_ files: [BytePath], _ what: String) {
        if editing.options.json || editing.options.quiet { return }
        MessageList("file") { if dryRun { try? printLine($0) } else { Log.info($0) } }
            .print(files.map { "\($0): \(what)" }, ": \(what)" + (dryRun ? "; --json lists them all" : ""))
    }

    /// The library loses the files and the URLs of the covers, unless a person has edited them: it has the address that was given before. A file that
    /// is in the place of a cover counts instead. The memory loses the URLs after it: a process that dies between the two must not take a fill's for a person's.
    private func forget(
        _ places: [Album.ID: [BytePath: BytePath?]], _ library: LibraryAPI, _ state: MusicState
    ) async throws {
        let (filled, decisions) = (try state.filledAddresses(), try state.decisions())
        // Also those of an undo that was killed.
        let lost = try state.undoneAddresses()
        let all = try await library.albums.all()
        try await library.albums.edit(
            all.compactMap { former in
                var album = former
                let isLost = album.coverURL.map { lost[album.id]?.contains($0) == true } == true
                guard let files = places[album.id] ?? (isLost ? [:] : nil) else { return nil }
                if filled[album.id]?.isAddress(of: album) == true {
                    album.coverURL = decisions[album.id]?.acceptance?.picture.address
                }
                let file = album.coverFilePath.map { BytePath(bytes: $0) }
                if file.map({ files[$0] != nil }) ?? (album.coverURL == nil) {
                    album.coverFilePath = files.values.compactMap(\.self).min()?.bytes
                    if Cover(fileOf: album) == nil { album.coverFilePath = nil }
                }
                return album == former ? nil : (former, album)
            })
        try state.noteAddresses(lost: true)
    }
}
