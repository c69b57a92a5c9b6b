import ArgumentParser
import CommandSupport
import CoverLibrary

struct AlbumList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", _superCommandName: "sleeve album",
        abstract: "List all albums, or those that contain words.",
        discussion: """
              sleeve album list
              sleeve album list harbour 1971
              sleeve album list --json | sleeve prefetch -

            With --json, each line is one album with all its fields.
            """)

    @Argument(help: "Words that an album's title, artist, genre or year contain.")
    var words: [String] = []

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let albums = try await library.existingAlbums()
            let shown = albums.enumerated().filter { $1.contains(words) }
            if options.json { return try printResult(shown.map { $1.json + "\n" }.joined()) }
            if shown.isEmpty {
                if options.quiet { return }
                return try printResult(
                    albums.isEmpty
                        ? "The library is empty. Add an album with `sleeve album add --title TITLE`.\n"
                        : "No album matches.\n")
            }
            let rows = shown.map { [String($0 + 1)] + $1.tableRepresentation.map(\.value) }
            let table = TextTable(["#", "Artist", "Album", "Genre", "Year"], rows, numeric: [0])
            try printResult(table.text(width: Terminal.standardOutput.columns))
        }
    }
}

extension Album {
    fileprivate func contains(_ words: [String]) -> Bool {
        if words.isEmpty { return true }
        let own = tableRepresentation.map { $0.value.lowercased() }.joined(separator: "\n")
        return words.flatMap { $0.lowercased().split(separator: " ") }.allSatisfy { own.contains($0) }
    }
}
