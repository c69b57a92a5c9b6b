import ArgumentParser
import CoverLibrary

struct AlbumAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an album.",
        discussion: """
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album add --title "Low Tide" --artist "The Harbour Lights" --at 1
            """)

    @Option(help: "The title; required.")
    var title: String

    @Option(help: "The artist.")
    var artist = ""

    @Option(help: "The genre.")
    var genre = ""

    @Option(help: "The year of release, four digits.")
    var year = ""

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option for alternatives, tried in order.", valueName: "url"))
    var coverUrl: [String] = []

    @Option(
        help: ArgumentHelp(
            "MusicBrainz release ID, to find a cover in the Cover Art Archive.", valueName: "uuid"))
    var releaseId: String?

    @Option(
        help: ArgumentHelp(
            "MusicBrainz release-group ID, the last place to look for a cover.", valueName: "uuid"))
    var releaseGroupId: String?

    @Option(help: ArgumentHelp("Insert it as this number in the list. Default: at the end.", valueName: "n"))
    var at: Int?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        if let at, at < 1 { throw ValidationError("--at must be 1 or more: albums are numbered from 1") }
        do throws(AlbumProblem) {
            _ = try wanted()
        } catch {
            throw ValidationError("--\(Self.option(error.field)): \(error.message)")
        }
    }

    /// The option that sets a field of the library file.
    static func option(_ field: String) -> String {
        switch field {
        case "coverUrl", "coverUrls": "cover-url"
        case "musicBrainzReleaseId": "release-id"
        case "musicBrainzReleaseGroupId": "release-group-id"
        default: field
        }
    }

    private func wanted() throws(AlbumProblem) -> Album {
        var album = Album(title: title, artist: artist, genre: genre, coverURL: coverUrl.first, year: year)
        album.alternateCoverURLs = Array(coverUrl.dropFirst())
        album.musicBrainzReleaseID = releaseId
        album.musicBrainzReleaseGroupID = releaseGroupId
        return try album.validated()
    }

    func run() async throws {
        let album = try wanted()
        try await editing.edit(nothing: "nothing was added") { library in
            try await library.albums.insert(album, at: at.map { $0 - 1 })
        }
    }
}

struct AlbumDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete albums from the library.",
        discussion: """
            `sleeve album undo` restores them. Cached covers are kept.

              sleeve album delete "Night Ferry"
              sleeve album delete 3 4 title:1999
            """)

    @Argument(help: "Numbers, titles or ids of albums.")
    var albums: [AlbumReference]

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "another program has deleted them already") { library in
            let all = try await library.albums.all()
            return try await library.albums.delete(albums.map { all[try $0.index(in: all)].id })
        }
    }
}

struct AlbumUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last edit. Run again to undo the one before it.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to undo", .undo) { try await $0.albums.undo() }
    }
}

struct AlbumRedo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Redo the edit that was undone last.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to redo", .redo) { try await $0.albums.redo() }
    }
}
