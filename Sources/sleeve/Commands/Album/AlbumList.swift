import ArgumentParser
import CoverLibrary

struct AlbumList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The albums, in their order.",
        discussion: "With --json, an album a line as the library has it: a list that `sleeve prefetch -` reads.")

    @Option(
        help: ArgumentHelp("Only albums that have all these words in title, artist, genre or year.", valueName: "words")
    )
    var match: String?

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration()) { library in
            let albums = try await library.albums
            let shown = albums.enumerated().filter { match == nil || $1.contains(match ?? "") }
            if options.json { return try tell(shown.map { $1.json + "\n" }.joined()) }
            if shown.isEmpty {
                if options.quiet { return }
                return try tell(albums.isEmpty ? "no albums; `sleeve album add --help`\n" : "no album matches\n")
            }
            var table = TextTable(["#", "Artist", "Album", "Genre", "Year"], numeric: [0])
            for (index, album) in shown {
                table.add([String(index + 1)] + album.tableRepresentation.map(\.value))
            }
            try tell(table.text(width: Terminal.standardOutput.isInteractive ? Terminal.standardOutput.width : nil))
        }
    }
}

extension Album {
    fileprivate func contains(_ text: String) -> Bool {
        let own = tableRepresentation.map { $0.value.lowercased() }.joined(separator: "\n")
        return text.lowercased().split(separator: " ").allSatisfy { own.contains($0) }
    }
}
