import ArgumentParser
import CoverLibrary

struct AlbumAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add an album.")

    @Option(help: "Its title.")
    var title: String

    @Option(help: "Who made it.")
    var artist = ""

    @Option(help: "Its genre.")
    var genre = ""

    @Option(help: "The year it came out: four digits.")
    var year = ""

    @Option(
        help: ArgumentHelp(
            "Where its cover is; again for more places, which are tried in their order.", valueName: "url"))
    var coverUrl: [String] = []

    @Option(
        help: ArgumentHelp(
            "The release MusicBrainz knows it as: where else its cover may be.", valueName: "uuid"))
    var releaseId: String?

    @Option(
        help: ArgumentHelp(
            "The group of releases MusicBrainz knows it as: where its cover may be at last.", valueName: "uuid"))
    var releaseGroupId: String?

    @Option(help: ArgumentHelp("Its number in the list. Default: the last.", valueName: "n"))
    var at: Int?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        if let at, at < 1 { throw ValidationError("--at counts from 1") }
        do throws(AlbumProblem) {
            _ = try wanted()
        } catch {
            throw ValidationError("--\(Self.option(error.field)): \(error.message)")
        }
    }

    /// What sets a field of the library file.
    static func option(_ field: String) -> String {
        switch field {
        case "coverUrl", "coverUrls": "cover-url"
        case "musicBrainzReleaseId": "release-id"
        case "musicBrainzReleaseGroupId": "release-group-id"
        default: field
        }
    }

    private func wanted() throws(AlbumProblem) -> Album {
        var album = Album(title: title, artist: artist, genre: genre, coverUrl: coverUrl.first, year: year)
        album.coverUrls = Array(coverUrl.dropFirst())
        album.musicBrainzReleaseId = releaseId
        album.musicBrainzReleaseGroupId = releaseGroupId
        return try album.validated()
    }

    func run() async throws {
        let album = try wanted()
        try await editing.edit(nothing: "nothing was added") { library in
            try await library.insert(album, at: at.map { $0 - 1 })
        }
    }
}

struct AlbumDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete albums; `sleeve album undo` brings them back.")

    @Argument(help: "Their numbers, ids or titles.")
    var albums: [AlbumReference]

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "somebody else has deleted them already") { library in
            let all = try await library.albums
            return try await library.deleteAlbums(albums.map { all[try $0.index(in: all)].id })
        }
    }
}

struct AlbumUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take the last edit back; again for the one before it.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to undo") { try await $0.undo() }
    }
}

struct AlbumRedo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Make an edit again that undo took back.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to redo") { try await $0.redo() }
    }
}
