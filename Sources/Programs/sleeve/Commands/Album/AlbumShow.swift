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
            try options.printResult(try Summary(album, result, library), text: text(album, result))
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
        var rows = album.tableRepresentation.map { [$0.title, $0.value] }
        switch result {
        case .success(let cover):
            rows.append(["Cover", describe(cover)])
            rows.append(
                cover.url.isFileURL
                    ? ["File", cover.url.path(percentEncoded: false)] : ["Save as", Self.command(cover)])
        case .failure(let failure):
            rows.append(["Cover", failure.detail])
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
        let type =
            cover.mediaType == "image/jpeg" ? "jpg" : cover.mediaType.dropFirst("image/".count).prefix { $0 != "+" }
        return "sleeve get '\(url)' -o cover.\(type)"
    }

    private struct Summary: Encodable {
        let album: AlbumResult
        /// Nil if there is none.
        let cover: CoverResult?
        /// Why there is none.
        let error: String?

        init(_ album: Album, _ result: Result<Cover, CoverFailure>, _ library: LibraryAPI) throws {
            self.album = AlbumResult(album)
            let found = try? result.get()
            cover = found.map { cover in
                let path = cover.url.isFileURL ? cover.url.path(percentEncoded: false) : nil
                return CoverResult(cover, path: try? path ?? library.coverFile(for: cover.key))
            }
            if case .failure(let failure) = result { error = failure.detail } else { error = nil }
        }
    }
}
