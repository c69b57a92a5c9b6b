import ArgumentParser
import CommandSupport
import CoverLibrary
import Synchronization

struct AlbumImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", _superCommandName: "sleeve album",
        abstract: "Add the albums of lists to your library.",
        discussion: """
              sleeve album import more.csv
              sleeve album import ~/.config/beets/library.db
              sleeve album list --json --library other.json | sleeve album import -

            A list is JSON, JSON lines, CSV or a beets library, as for `sleeve prefetch`. All its columns or fields are kept. Albums that are \
            already in the library are left out, so a list can be imported again. Albums that `sleeve album add` refuses, such as one \
            without a title, are skipped with a warning that names the line, and the exit code is 3. One `sleeve album undo` undoes the whole import.
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
                paths: [input], ListOptions(format: format, keepsOtherFields: true),
                onFailure: { problem in
                    Log.warning("\(problem)")
                    hasUnreadableList.store(true, ordering: .relaxed)
                })
            for await batch in batches {
                for element in batch { add(element, of: input, &albums, skipped) }
            }
        }
        skipped.end()
        // An import is one edit: it adds all lists or none.
        if hasUnreadableList.load(ordering: .relaxed) { throw fail("nothing was imported") }
        try await editing.withLibrary { library in
            let edit = try await library.albums.add(albums)
            let imported = edit?.changes.count ?? 0
            try report(imported: imported, known: albums.count - imported, skipped.count)
        }
        if skipped.count > 0 { throw ExitStatus.someFailed }
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

    private func report(imported: Int, known: Int, _ skipped: Int) throws {
        var text = "Imported \(imported) " + (imported == 1 ? "album" : "albums")
        if known > 0 { text += ", \(known) already in the library" }
        if skipped > 0 { text += ", \(skipped) skipped" }
        try editing.options.printResult(
            Summary(imported: imported, known: known, skipped: skipped), text: text + "\n")
    }

    private struct Summary: Encodable { let imported, known, skipped: Int }
}
