import ArgumentParser
import CoverLibrary

struct AlbumChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change fields of an album.",
        discussion: """
            Fields that are not given stay as they are, and the album keeps its place. An empty text clears a field: --genre "".
            """)

    @Argument(help: "Number, title or id of the album.")
    var album: AlbumReference

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The artist.")
    var artist: String?

    @Option(help: "The genre.")
    var genre: String?

    @Option(help: "The year of release, four digits.")
    var year: String?

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option to replace the alternatives, tried in order.",
            valueName: "url"))
    var coverUrl: [String] = []

    @Option(help: ArgumentHelp("MusicBrainz release ID, to find a cover in the Cover Art Archive.", valueName: "uuid"))
    var releaseId: String?

    @Option(
        help: ArgumentHelp(
            "MusicBrainz release-group ID, the last place to look for a cover.", valueName: "uuid"))
    var releaseGroupId: String?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        let texts = [title, artist, genre, year, coverUrl.first, releaseId, releaseGroupId]
        if texts.allSatisfy({ $0 == nil }) {
            throw ValidationError(
                "nothing to change: give --title, --artist, --genre, --year, --cover-url, --release-id or "
                    + "--release-group-id")
        }
    }

    func run() async throws {
        try await editing.edit(nothing: "nothing was changed: the album is like that already") { library in
            let albums = try await library.albums.all()
            let former = albums[try album.index(in: albums)]
            do {
                return try await library.albums.edit(former.id) { album in
                    change(&album)
                    album = try album.validated(editing: former)
                }
            } catch let problem as AlbumProblem {
                throw fail("--\(AlbumAdd.option(problem.field)): \(problem.message)", .validationFailure)
            }
        }
    }

    private func change(_ album: inout Album) {
        if let title { album.title = title }
        if let artist { album.artist = artist }
        if let genre { album.genre = genre }
        if let year { album.year = year }
        if let first = coverUrl.first { album.coverURL = first }
        // One URL alone is the cover's; those that are tried after it stay.
        if coverUrl.count > 1 { album.alternateCoverURLs = Array(coverUrl.dropFirst()) }
        if let releaseId { album.musicBrainzReleaseID = releaseId.isEmpty ? nil : releaseId }
        if let releaseGroupId { album.musicBrainzReleaseGroupID = releaseGroupId.isEmpty ? nil : releaseGroupId }
    }
}
