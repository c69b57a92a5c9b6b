import ArgumentParser
import CommandSupport
import CoverLibrary
import Synchronization

struct AlbumImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", _superCommandName: "sleeve album",
        abstract: "Add all albums of one or more lists.",
        discussion: """
            A list is JSON, JSON lines, CSV or a beets library, as for `sleeve prefetch`. All its columns or fields are kept. Albums that are already in the library are left \
            out, so a list can be imported again. Albums that `sleeve album add` refuses, such as one without a title, are \
            skipped with a warning that names the line, and the exit code is 3. One `sleeve album undo` undoes the whole \
            import.

              sleeve album import more.csv
              sleeve album import ~/.config/beets/library.db
              sleeve album list --json --library other.json | sleeve album import -
            """)

    @Argument(help: ArgumentHelp("Lists of albums; - is stdin.", valueName: "input"), completion: .file())
    var inputs: [String]

    @Option(help: "The format of the lists: json, jsonl or csv. Default: detected.")
    var format: ListFormat?

    @OptionGroup var editing: EditOptions

    func run() async throws {
        let hasUnreadableList = Atomic(false)
        var (albums, skipped): ([Album], Int) = ([], 0)
        for input in inputs {
            let batches = ListBatches(
                paths: [input], ListOptions(format: format, keepsOtherFields: true),
                onFailure: { problem in
                    Log.warning("\(problem)")
                    hasUnreadableList.store(true, ordering: .relaxed)
                })
            for await batch in batches {
                for element in batch { add(element, of: input, &albums, &skipped) }
            }
        }
        // An import is one edit: it adds all lists or none.
        if hasUnreadableList.load(ordering: .relaxed) { throw fail("nothing was imported") }
        try await editing.withLibrary { library in
            let edit = try await library.albums.add(albums)
            try report(imported: edit?.changes.count ?? 0, known: albums.count - (edit?.changes.count ?? 0), skipped)
        }
        if skipped > 0 { throw ExitStatus.someFailed }
    }

    private func add(_ element: ListElement, of input: String, _ albums: inout [Album], _ skipped: inout Int) {
        let (album, location): (Album?, ListLocation)
        switch element {
        case .item(let item):
            (album, location) = (item.album, ListLocation(file: input == "-" ? "stdin" : input, line: item.line))
        case .problem(let problem):
            if problem.album == nil { return warn("\(problem)", &skipped) }
            (album, location) = (problem.album, problem.location)
        }
        guard let album else {
            return warn("\(location): skipped: this is a URL; an album needs a title", &skipped)
        }
        do throws(AlbumProblem) {
            albums.append(try album.validated())
        } catch {
            warn("\(location): skipped: \(error.field == "title" ? error.message : "\(error)")", &skipped)
        }
    }

    private func warn(_ message: String, _ skipped: inout Int) {
        skipped += 1
        if skipped <= 20 { Log.warning(message) }
        if skipped == 21 { Log.warning("more albums were skipped for such reasons; only the first 20 are listed") }
    }

    private func report(imported: Int, known: Int, _ skipped: Int) throws {
        if editing.options.json {
            var line = JSONObject()
            line.add("imported", imported)
            line.add("known", known)
            line.add("skipped", skipped)
            return try printResult(line.text + "\n")
        }
        if editing.options.quiet { return }
        var text = "Imported \(imported) " + (imported == 1 ? "album" : "albums")
        if known > 0 { text += ", \(known) already in the library" }
        if skipped > 0 { text += ", \(skipped) skipped" }
        try printResult(text + "\n")
    }
}
