import ArgumentParser
import CommandSupport
import CoverLibrary

struct AlbumChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", _superCommandName: "sleeve album",
        abstract: "Change fields of an album.",
        discussion: """
            Fields that are not given stay as they are, and the album keeps its place. An empty text clears a field: --genre "".
            """)

    @Argument(help: "Number, title, id or folder of the album.")
    var album: AlbumReference

    @Option(help: "The new title.")
    var title: String?

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option to replace the alternatives, tried in order.",
            valueName: "url"))
    var coverUrl: [String] = []

    @OptionGroup var fields: AlbumFields
    @OptionGroup var editing: EditOptions

    func validate() throws {
        if title == nil, coverUrl.isEmpty, fields.isEmpty {
            throw ValidationError(
                "nothing to change: give --title, --artist, --genre, --year, --cover-url, --release-id or "
                    + "--release-group-id")
        }
    }

    func run() async throws {
        try await editing.edit(nothing: "nothing was changed: the album has these values already") { library in
            let albums = try await library.albums.all()
            let former = try album.album(in: albums, of: library)
            do {
                return try await library.albums.edit(former.id) { album in
                    apply(to: &album)
                    album = try album.validated(editing: former)
                }
            } catch let problem as AlbumProblem {
                throw fail(problem.optionMessage, .validationFailure)
            }
        }
    }

    private func apply(to album: inout Album) {
        if let title { album.title = title }
        if let first = coverUrl.first { album.coverURL = first }
        // A single URL replaces the first one; the alternatives stay.
        if coverUrl.count > 1 { album.alternateCoverURLs = Array(coverUrl.dropFirst()) }
        fields.apply(to: &album)
    }
}
