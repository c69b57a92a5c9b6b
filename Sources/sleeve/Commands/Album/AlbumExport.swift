import ArgumentParser
import CoverLibrary

struct AlbumExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the albums as a list.",
        discussion: """
            To a file, whose name says the format, or to stdout. JSON and JSON lines hold everything; CSV holds id, title, \
            artist, genre, year and coverUrl.
            """)

    @Argument(help: ArgumentHelp("The file; it is replaced as a whole. - or none: stdout.", valueName: "file"))
    var output: String?

    @Option(help: "json, jsonl or csv. Default: by the file's name, else json.")
    var format: ListFormat?

    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if format == .urls { throw ValidationError("--format must be json, jsonl or csv") }
    }

    func run() async throws {
        try await withLibrary(try options.configuration()) { library in
            let albums = try await library.albums
            let text = AlbumFile.text(of: albums, format: format ?? Self.format(of: output))
            let output = output == "-" ? nil : output
            if let output, OutputFile.isSame(output, library.configuration.libraryFile) {
                throw fail("\(output) is the library file itself; choose another file")
            }
            if let output { try OutputFile.write(Array(text.utf8), to: output) } else { try tell(text) }
            if let output, !options.quiet {
                Log.info("wrote \(albums.count) albums to \(output)")
            }
        }
    }

    private static func format(of path: String?) -> ListFormat {
        switch path?.split(separator: ".").last?.lowercased() {
        case "jsonl", "ndjson": .jsonl
        case "csv": .csv
        default: .json
        }
    }
}
