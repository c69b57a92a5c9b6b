import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct AlbumShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", _superCommandName: "sleeve album",
        abstract: "Show an album's fields, and its cached cover.",
        discussion: """
              sleeve album show "Low Tide"

            `sleeve why` tells where its cover was looked for. Nothing is requested.
            """)

    @Argument(help: "The album's number, title, id or folder.")
    var album: AlbumReference

    @OptionGroup(visibility: .hidden) var archive: ArchiveServerOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try archive.apply(to: &configuration)
        configuration.isOffline = true
        try await withAlbums(configuration) { library in
            let albums = try await library.existingAlbums()
            let album = try self.album.album(in: albums, of: library)
            let cover = try await cover(of: album, in: library)
            let text = text(album, cover, library.coverURLs(of: album))
            try options.printResult(Summary(album: album, cover: await result(cover, library)), text: text)
        }
    }

    /// - Returns: The cached cover, or that of a file beside the music; nil if the album has neither.
    private func cover(of album: Album, in library: LibraryAPI) async throws -> Cover? {
        do throws(CoverFailure) {
            return try await library.cover(of: album) { request async throws(CoverFailure) in
                try await library.cover(for: request)
            }
        } catch {
            if error.kind == .cache { throw fail(error.message) }
            return nil
        }
    }

    private func text(_ album: Album, _ cover: Cover?, _ urls: [String]) -> String {
        var rows = album.tableRepresentation.map { [$0.title, $0.value] } + urls.map { ["URL", $0] }
        if let cover {
            rows.append(["Cover", describe(cover)])
            rows.append(
                cover.url.isFileURL
                    ? ["File", cover.url.path(percentEncoded: false)] : ["Save as", Self.command(cover)])
        } else {
            let state = urls.isEmpty ? "no file, and no address" : "not in the cache"
            rows.append(["Cover", "\(state); `sleeve why` tells where it was looked for"])
        }
        return TextTable([], rows).text()
    }

    private func describe(_ cover: Cover) -> String {
        let size = cover.width.flatMap { width in cover.height.map { "\(width)×\($0), " } } ?? ""
        return "\(cover.mediaType), \(size)\(ByteSize(cover.data.count))" + (cover.isStale ? ", stale" : "")
    }

    /// The shell command that writes the cover to a file: `sleeve get 'URL' -o cover.jpg`.
    private static func command(_ cover: Cover) -> String {
        let url = cover.key.map { $0 == "'" ? "'\\''" : String($0) }.joined()
        return "sleeve get '\(url)' -o cover.\(PictureType.fileExtension(cover.mediaType))"
    }

    private func result(_ cover: Cover?, _ library: LibraryAPI) async -> CoverResult? {
        guard let cover else { return nil }
        if cover.url.isFileURL { return CoverResult(cover, path: cover.url.path(percentEncoded: false)) }
        return CoverResult(cover, path: try? await library.coverFile(for: cover.key))
    }

    private struct Summary: Encodable {
        let album: Album
        /// Nil if none is cached.
        let cover: CoverResult?
    }
}

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
            let rows = shown.map { [String($0 + 1)] + $1.tableRepresentation.map { $0.value } }
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
