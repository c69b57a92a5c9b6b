import ArgumentParser
import CoverLibrary
import Synchronization

struct AlbumImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the albums of lists, in one step.",
        discussion: """
            A list is JSON, JSON lines or CSV, as for `sleeve prefetch`; - reads stdin. Albums that are in the library \
            already are left out, so a list can be imported again. One undo takes all of it back.
            """)

    @Argument(help: ArgumentHelp("Lists of albums; - is stdin.", valueName: "input"))
    var inputs: [String]

    @Option(help: "The lists' format: json, jsonl or csv. Default: recognised.")
    var format: ListFormat?

    @OptionGroup var editing: EditOptions

    func run() async throws {
        let brokenLists = Mutex(0)
        var (albums, skipped): ([Album], Int) = ([], 0)
        for input in inputs {
            let batches = ListBatches(paths: [input], format: format, keepsOtherFields: true) { problem in
                Log.warning("\(problem)")
                brokenLists.withLock { $0 += 1 }
            }
            for await batch in batches {
                for element in batch { take(element, of: input, &albums, &skipped) }
            }
        }
        // One step: what could not be read to its end is not brought half.
        if brokenLists.withLock({ $0 }) > 0 { throw fail("nothing was imported") }
        try await editing.withLibrary { library in
            let edit = try await library.addAlbums(albums)
            try report(imported: edit?.placed.count ?? 0, known: albums.count - (edit?.placed.count ?? 0), skipped)
        }
        if skipped > 0 { throw ExitStatus.someFailed }
    }

    private func take(_ element: ListElement, of input: String, _ albums: inout [Album], _ skipped: inout Int) {
        switch element {
        case .item(let item):
            if let album = item.album { return albums.append(album) }
            complain("\(input == "-" ? "stdin" : input):\(item.line): a URL alone is no album; skipped", &skipped)
        case .problem(let problem):
            if let album = problem.album { return albums.append(album) }
            complain("\(problem)", &skipped)
        }
    }

    private func complain(_ message: String, _ skipped: inout Int) {
        skipped += 1
        if skipped <= 20 { Log.warning(message) }
        if skipped == 21 { Log.warning("… and more like these") }
    }

    private func report(imported: Int, known: Int, _ skipped: Int) throws {
        if editing.options.json {
            var line = JSONObject()
            line.add("imported", imported)
            line.add("known", known)
            line.add("skipped", skipped)
            return try tell(line.text + "\n")
        }
        if editing.options.quiet { return }
        var text = "imported \(imported) " + (imported == 1 ? "album" : "albums")
        if known > 0 { text += ", \(known) already there" }
        if skipped > 0 { text += ", \(skipped) skipped" }
        try tell(text + "\n")
    }
}
