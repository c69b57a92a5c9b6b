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

    @Option(help: ArgumentHelp("Where its cover is.", valueName: "url"))
    var coverUrl: String?

    @Option(help: ArgumentHelp("Its number in the list. Default: the last.", valueName: "n"))
    var at: Int?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        if let at, at < 1 { throw ValidationError("--at counts from 1") }
        do throws(AlbumProblem) {
            _ = try wanted()
        } catch {
            throw ValidationError("--\(error.field == "coverUrl" ? "cover-url" : error.field): \(error.message)")
        }
    }

    private func wanted() throws(AlbumProblem) -> Album {
        try Album(title: title, artist: artist, genre: genre, coverUrl: coverUrl, year: year).validated()
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
