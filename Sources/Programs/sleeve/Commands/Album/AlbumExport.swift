import ArgumentParser
import CommandSupport
import CoverLibrary

struct AlbumExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", _superCommandName: "sleeve album",
        abstract: "Write all albums as JSON, JSON lines or CSV.",
        discussion: """
              sleeve album export albums.csv
              sleeve album export --format jsonl | grep 1971

            The file's extension chooses the format: .json, .jsonl (or .ndjson) or .csv; --format overrides it. stdout and \
            files without an extension get JSON. Every format holds every field but the paths of cover files: CSV has a column for each. \
            The covers themselves are written by `sleeve export`.
            """)

    @Argument(
        help: ArgumentHelp("The file to write or replace; - is stdout. (default: -)", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        help: "json, jsonl or csv. (default: by the file's extension, else json)",
        transform: { name in
            guard let format = ListFormat(rawValue: name), ListFormat.written.contains(format) else {
                throw ValidationError("--format must be json, jsonl or csv")
            }
            return format
        })
    var format: ListFormat?

    @OptionGroup var options: LibraryOptions

    func validate() throws {
        _ = try chosenFormat()
    }

    func run() async throws {
        let format = try chosenFormat()
        let configuration = try options.configuration()
        try configuration.check(output: output, "the export")
        try await withAlbums(configuration) { library in
            let albums = try await library.albums.all().map(\.withoutCoverFile)
            let text = AlbumFile.text(of: albums, format: format)
            let output = output == "-" ? nil : output
            // The first characters tell an export from a person's table or text.
            let start = format == .csv ? "id,title" : format == .jsonl ? "{" : "["
            if let output { try OutputFile.check(output) { $0.starts(with: Array(start.utf8)) } }
            if let output { try OutputFile.write(Array(text.utf8), to: output) } else { try printResult(text) }
            if let output, !options.quiet {
                Log.info("wrote \(Decimals.count(albums.count, "album")) to \(output)")
            }
        }
    }

    /// The format that --format names, else that of the file's extension.
    /// - Throws: `ValidationError` if the extension is unknown.
    private func chosenFormat() throws -> ListFormat {
        if let format { return format }
        let name = output?.split(separator: "/").last ?? ""
        // A leading dot marks a hidden file, not an extension.
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return .json }
        switch name[dot...].lowercased() {
        case ".json": return .json
        case ".jsonl", ".ndjson": return .jsonl
        case ".csv": return .csv
        case let other:
            throw ValidationError(
                "Cannot export to “\(other)” files. Use .json, .jsonl or .csv, or name the format with --format.")
        }
    }
}
