import ArgumentParser
import CoverLibrary

struct AlbumShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an album's fields and its cover.",
        discussion: """
            The cover is downloaded if it is not cached, unless --offline. Terminals that support iTerm2's image protocol, or \
            kitty's for PNG, draw it. For others, the command that writes it to a file is shown.

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
        archive.apply(to: &configuration)
        try await withLibrary(configuration) { library in
            let albums = try await library.albums.all()
            let album = albums[try self.album.index(in: albums)]
            if options.json { return try await tellJSON(album, library) }
            var table = TextTable(["", ""], numeric: [])
            for row in album.tableRepresentation { table.add([row.title, row.value]) }
            do throws(CoverFailure) {
                let cover = try await library.shown(album)
                table.add(["Cover", describe(cover)])
                let image = InlineImage.here(cover)
                if image == nil { table.add(["Save as", Self.command(cover)]) }
                try? tell(table.text(width: nil, hasHeader: false) + (image.map { "\n" + $0 } ?? ""))
            } catch {
                table.add(["Cover", error.detail])
                try tell(table.text(width: nil, hasHeader: false))
                if !library.coverPlaces(of: album).isEmpty { throw ExitStatus.someFailed }
            }
        }
    }

    private func describe(_ cover: Cover) -> String {
        let size = cover.width.flatMap { width in cover.height.map { "\(width)×\($0), " } } ?? ""
        return "\(cover.mediaType), \(size)\(ByteSize(cover.bytes.count))" + (cover.isStale ? ", stale" : "")
    }

    /// The shell command that writes the cover to a file: `sleeve get 'URL' -o cover.jpg`.
    private static func command(_ cover: Cover) -> String {
        let url = cover.url.map { $0 == "'" ? "'\\''" : String($0) }.joined()
        let type =
            cover.mediaType == "image/jpeg" ? "jpg" : cover.mediaType.dropFirst("image/".count).prefix { $0 != "+" }
        return "sleeve get '\(url)' -o cover.\(type)"
    }

    private func tellJSON(_ album: Album, _ library: LibraryAPI) async throws {
        var line = JSONObject()
        line.add("album", raw: album.json)
        do throws(CoverFailure) {
            let cover = try await library.shown(album)
            let place = try? library.place(of: cover.url)
            line.add("digest", cover.digest)
            line.add("type", cover.mediaType)
            line.add("bytes", cover.bytes.count)
            line.add("width", cover.width)
            line.add("height", cover.height)
            if cover.isStale { line.add("stale", true) }
            line.add("file", place?.file)
            line.add("offset", place?.offset)
            try? tell(line.text + "\n")
        } catch {
            line.add("error", error.detail)
            try tell(line.text + "\n")
            if !library.coverPlaces(of: album).isEmpty { throw ExitStatus.someFailed }
        }
    }
}

extension LibraryAPI {
    fileprivate func shown(_ album: Album) async throws(CoverFailure) -> Cover {
        do {
            return try await cover(of: album)
        } catch let failure as CoverFailure {
            throw failure
        } catch {
            throw .cancelled(album.title)
        }
    }
}
