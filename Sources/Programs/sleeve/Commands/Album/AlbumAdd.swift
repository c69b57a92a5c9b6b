import ArgumentParser
import CoverLibrary

struct AlbumAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", _superCommandName: "sleeve album",
        abstract: "Add an album.",
        discussion: """
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album add --title "Low Tide" --artist "The Harbour Lights" --at 1
            """)

    @Option(help: "The title; required.")
    var title: String

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option for alternatives, tried in order.", valueName: "url"))
    var coverUrl: [String] = []

    @OptionGroup var fields: AlbumFields

    @Option(help: ArgumentHelp("Insert it as this number in the list. (default: at the end)", valueName: "n"))
    var at: Int?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        if let at, at < 1 { throw ValidationError("--at must be 1 or more: albums are numbered from 1") }
        do throws(AlbumProblem) { _ = try album() } catch { throw ValidationError(error.optionMessage) }
    }

    func run() async throws {
        let album = try album()
        try await editing.edit(nothing: "nothing was added") { library in
            try await library.albums.insert(album, at: at.map { $0 - 1 })
        }
    }

    private func album() throws(AlbumProblem) -> Album {
        var album = Album(title: title, artist: "", genre: "", coverURL: coverUrl.first, year: "")
        album.alternateCoverURLs = Array(coverUrl.dropFirst())
        fields.apply(to: &album)
        return try album.validated()
    }
}
