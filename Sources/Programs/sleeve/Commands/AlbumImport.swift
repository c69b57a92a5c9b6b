import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform
import Synchronization

struct AlbumImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", _superCommandName: "sleeve album",
        abstract: "Add the albums of lists to your library.",
        discussion: """
              sleeve album import more.csv
              sleeve album import ~/.config/beets/library.db
              sleeve album list --json --library other.json | sleeve album import -

            A list is JSON, JSON lines, CSV or a beets library, as for `sleeve prefetch`. All columns or fields of a new album are kept. Albums that are \
            already in the library are not added again, so a list can be imported twice: one is known by its id, by its MusicBrainz release \
            and names that do not contradict, or by its artist, title and year, also if a scan has added it. It gets the address of the cover, \
            the genre, the year and the ids that it lacks; the next `sleeve fill` writes the cover that is at the address.

            Albums that `sleeve album add` refuses, such as one without a title, and those that fit several albums of the library are skipped \
            with a warning, and the exit code is 3. `sleeve album undo` takes the import back; what albums of the library got and what was \
            added are two steps.
            """)

    @Argument(help: ArgumentHelp("Lists of albums; - is stdin.", valueName: "input"), completion: .file())
    var inputs: [String]

    @Option(help: "The format of the lists. (default: detected)")
    var format: ListFormat?

    @OptionGroup var editing: EditOptions

    func run() async throws {
        let hasUnreadableList = Atomic(false)
        let skipped = MessageList("skipped album")
        var albums: [Album] = []
        for input in inputs {
            let batches = ListBatches(
                paths: [input], ListOptions(format: format, keepsOtherFields: true), transform: { batch, _ in batch },
                onFailure: { problem in
                    Log.warning("\(problem)")
                    hasUnreadableList.store(true, ordering: .relaxed)
                })
            for await batch in batches {
                for element in batch { add(element, of: input, &albums, skipped) }
            }
        }
        skipped.end()
        // An import takes all lists or none.
        if hasUnreadableList.load(ordering: .relaxed) { throw fail("nothing was imported") }
        let count = skipped.count
        var isAllImported = count == 0
        try await editing.withLibrary { [albums] library in
            let state = try MusicState.existing(of: library.configuration.libraryPath)
            let listed = try ListedAlbums(albums, library: try await library.albums.all(), state)
            for (album, others) in listed.ambiguous {
                Log.warning(
                    "skipped: \(album.fullName) fits \(others.count) albums of your library: "
                        + others.map { "\($0.fullName) (id \($0.id))" }.joined(separator: ", ")
                        + "; `sleeve album edit ID --cover-url URL` gives one of them the address")
            }
            let added = try await library.albums.add(listed.new)?.changes.count ?? 0
            let changed = try await library.albums.edit(listed.edits)?.changes.count ?? 0
            if !listed.ambiguous.isEmpty { isAllImported = false }
            try report(
                Summary(
                    imported: added, completed: changed,
                    known: albums.count - added - changed - listed.ambiguous.count,
                    skipped: count + listed.ambiguous.count))
        }
        if !isAllImported { throw ExitStatus.someFailed }
    }

    private func add(_ element: ListElement, of input: String, _ albums: inout [Album], _ skipped: MessageList) {
        let (album, location): (Album?, ListLocation)
        switch element {
        case .item(let item):
            (album, location) = (item.album, ListLocation(file: input == "-" ? "stdin" : input, line: item.line))
        case .problem(let problem):
            if problem.album == nil { return skipped.add("\(problem)") }
            (album, location) = (problem.album, problem.location)
        }
        guard let album else {
            return skipped.add("\(location): skipped: this is a URL; an album needs a title")
        }
        do throws(AlbumProblem) {
            albums.append(try album.validated())
        } catch {
            skipped.add("\(location): skipped: \(error.field == "title" ? error.message : "\(error)")")
        }
    }

    private func report(_ summary: Summary) throws {
        var text = "Imported \(Decimals.count(summary.imported, "album"))"
        if summary.completed > 0 { text += ", gave \(summary.completed) of your library what they lacked" }
        if summary.known > 0 { text += ", \(summary.known) already in the library" }
        if summary.skipped > 0 { text += ", \(summary.skipped) skipped" }
        try editing.options.printResult(summary, text: text + "\n")
    }

    private struct Summary: Encodable { let imported, completed, known, skipped: Int }
}

struct AlbumScan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", _superCommandName: "sleeve album",
        abstract: "Add the albums of music folders, by their tags.",
        discussion: """
              sleeve album scan ~/Music
              sleeve album scan /music/flac /music/mp3 --json
              sleeve album scan ~/Music --prune

            No cover is looked for: `sleeve fill` scans, too, and then finds covers; `sleeve audit` scans and lists bad covers. A scan \
            writes nothing into the folders. One `sleeve album undo` undoes what it added.

            Reads the tags of mp3, flac, ogg, opus, m4a, wma, wv, ape, aiff, wav, dsf and mpc files, and looks which albums have a cover: \
            a file beside the music (cover, folder, front, album, albumart or the album's title, with jpg, jpeg, png, webp, avif, jxl or \
            gif, in any case), and pictures in the tags.

            Files are one album by their MusicBrainz release, else by album artist, title, year and folder. Folders such as CD1 and \
            Disc 2 are one album. It is an album of the library by its release, else by artist, title and year, else if the songs in its folder \
            are as long as before; never by the folder alone. Fields that you have edited and albums that you have deleted stay as they are.

            Only folders that have changed are read again. Symbolic links are followed once each, inside the folder. Hidden folders, \
            folders with an empty .nomedia, .ndignore or .mpdignore, and those of storage systems (@eaDir, #snapshot, ...) are left out. \
            If a folder has lost all of its music, or a disk that was mounted in it is not, none of its albums counts as gone.

            Exits with 3 if a file or a folder could not be read; the others are.
            """)

    @Flag(
        help: ArgumentHelp(
            "Delete albums from the library whose folder is gone.",
            discussion:
                "Only those that a scan has added and that were not edited. Scanned folders that do not exist are forgotten."
        ))
    var prune = false

    @OptionGroup var music: MusicFolderOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var editing: EditOptions

    func validate() throws { if music.folders.isEmpty { throw ValidationError("Name the music folders to scan.") } }

    func run() async throws {
        var (scan, missing) = try music.scan()
        scan.options.prunes = prune
        try await editing.withLibrary { [scan, options = editing.options] library in
            let state = try MusicFolderOptions.openState(library.configuration)
            let start = ContinuousClock.now
            let outcome = try await MusicFolderOptions.run(scan, library.albums, state, options, progress)
            let summary = ScanSummary(
                outcome, missing: missing, seconds: start.duration(to: .now) / .seconds(1))
            try options.printResult(summary, text: summary.text(leftOut: outcome.leftOut))
            try stopIfSignalled()
            if summary.problems > 0 { throw ExitStatus.someFailed }
        }
    }
}

/// The result of a scan.
struct ScanSummary: Encodable {
    private let files, filesRead, folders, foldersRead, albums, new, changed, deleted, withCover, withoutCover: Int
    private let embedded, untagged, hidden, excluded, unreadFormats, gone, pruned, links: Int
    /// Files and folders that could not be read, and folders that were not there.
    let problems: Int
    private let cancelled: Bool
    private let seconds: Double

    /// - Parameter missing: Folders that are not there.
    init(_ outcome: LibraryScan.Outcome, missing: Int, seconds: Double) {
        let (found, update) = (outcome.findings, outcome.update)
        (files, filesRead) = (found.progress.files, found.progress.filesRead)
        (folders, foldersRead) = (found.progress.folders, found.progress.foldersRead)
        (albums, withCover) = (outcome.albums.count, outcome.albums.count { $0.hasCover })
        (withoutCover, embedded) = (albums - withCover, outcome.albums.count { $0.hasEmbeddedCover })
        (new, changed) = (update?.additions.count ?? 0, update?.edits.count ?? 0)
        (deleted, gone) = (update?.deleted.count ?? 0, update?.gone.count ?? 0)
        untagged = found.leftOut.untagged + found.leftOut.untaggedImages
        (hidden, excluded) = (found.leftOut.hidden.count, found.leftOut.excluded.count)
        unreadFormats = found.leftOut.formats.values.reduce(0, +)
        (pruned, links) = (outcome.pruned, found.outsideLinks.count)
        problems = outcome.problems.count + missing
        (cancelled, self.seconds) = (found.isCancelled, seconds)
    }

    /// - Parameter leftOut: What the scan left out, as lines.
    func text(leftOut: String) -> String {
        var text = "\(Decimals.count(files, "file")) in \(Decimals.count(folders, "folder")); "
        text += filesRead == 0 ? "nothing has changed" : "read \(Decimals.grouped(filesRead))"
        text += " (\(Decimals.text(seconds, 1)) s)\n"
        if cancelled { return text + "Stopped: the library is unchanged, and the next scan goes on.\n" }
        text += "\(Decimals.count(albums, "album")): \(Decimals.grouped(new)) new, "
        text += "\(Decimals.grouped(changed)) changed; \(Decimals.grouped(withCover)) with a cover file, "
        text += "\(Decimals.grouped(withoutCover)) without; \(Decimals.grouped(embedded)) with a cover in the tags\n"
        text += leftOut
        if gone > 0 {
            text += "\(Decimals.count(gone, "album")) gone from the folders"
            text +=
                pruned > 0
                ? ", \(Decimals.grouped(pruned)) removed from the library\n"
                : "; --prune removes them from the library\n"
        }
        if problems > 0 {
            text += Terminal.standardOutput.text(Decimals.count(problems, "problem"), in: .warning) + "\n"
        }
        return text
    }
}
