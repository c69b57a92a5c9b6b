import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct AlbumShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", _superCommandName: "sleeve album",
        abstract: "Show an album's fields and its cover.",
        discussion: """
            The cover is downloaded if it is not cached, unless --offline. The command that writes it to a file is shown.

              sleeve album show "Low Tide"
            """)

    @Argument(help: "The album's number, title or id.")
    var album: AlbumReference

    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        try archive.apply(to: &configuration)
        try await withAlbums(configuration) { library in
            try await StarterLibrary.prepare(library)
            let albums = try await library.albums.all()
            let album = albums[try self.album.index(in: albums)]
            let result = await coverResult(of: album, in: library)
            if options.json {
                try printJSON(json(album, result, library))
            } else {
                try printResult(text(album, result))
            }
            if case .failure = result, !library.coverURLs(of: album).isEmpty { throw ExitStatus.someFailed }
        }
    }

    private func coverResult(of album: Album, in library: LibraryAPI) async -> Result<Cover, CoverFailure> {
        if let own = Cover(fileOf: album) { return .success(own) }
        do throws(CoverFailure) {
            return .success(try await library.cover(for: CoverRequest(album: album)))
        } catch {
            return .failure(error)
        }
    }

    private func text(_ album: Album, _ result: Result<Cover, CoverFailure>) -> String {
        var table = TextTable(["", ""], numeric: [])
        for row in album.tableRepresentation { table.add([row.title, row.value]) }
        switch result {
        case .success(let cover):
            table.add(["Cover", describe(cover)])
            table.add(
                cover.url.isFileURL
                    ? ["File", cover.url.path(percentEncoded: false)] : ["Save as", Self.command(cover)])
        case .failure(let failure):
            table.add(["Cover", failure.detail])
        }
        return table.text(width: nil, hasHeader: false)
    }

    private func describe(_ cover: Cover) -> String {
        let size = cover.width.flatMap { width in cover.height.map { "\(width)×\($0), " } } ?? ""
        return "\(cover.mediaType), \(size)\(ByteSize(cover.data.count))" + (cover.isStale ? ", stale" : "")
    }

    /// The shell command that writes the cover to a file: `sleeve get 'URL' -o cover.jpg`.
    private static func command(_ cover: Cover) -> String {
        let url = cover.key.map { $0 == "'" ? "'\\''" : String($0) }.joined()
        let type =
            cover.mediaType == "image/jpeg" ? "jpg" : cover.mediaType.dropFirst("image/".count).prefix { $0 != "+" }
        return "sleeve get '\(url)' -o cover.\(type)"
    }

    private func json(_ album: Album, _ result: Result<Cover, CoverFailure>, _ library: LibraryAPI) -> JSONObject {
        var line: JSONObject = ["album": JSONText(album.json)]
        switch result {
        case .success(let cover):
            line.add([
                "digest": cover.digest, "type": cover.mediaType, "bytes": cover.data.count, "width": cover.width,
                "height": cover.height,
            ])
            if cover.isStale { line.add("stale", true) }
            let path = cover.url.isFileURL ? cover.url.path(percentEncoded: false) : nil
            line.add("file", try? path ?? library.coverFile(for: cover.key))
        case .failure(let failure):
            line.add("error", failure.detail)
        }
        return line
    }
}
