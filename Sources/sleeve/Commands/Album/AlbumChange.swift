import ArgumentParser
import CoverLibrary

struct AlbumChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change fields of an album.",
        discussion: """
            What is not named stays as it is, and the album keeps its place. An empty text removes a field: --genre "".
            """)

    @Argument(help: "Its number, id or title.")
    var album: AlbumReference

    @Option(help: "Its new title.")
    var title: String?

    @Option(help: "Who made it.")
    var artist: String?

    @Option(help: "Its genre.")
    var genre: String?

    @Option(help: "The year it came out: four digits.")
    var year: String?

    @Option(
        help: ArgumentHelp(
            "Where its cover is; again for more places, which replace those it had and are tried in their order.",
            valueName: "url"))
    var coverUrl: [String] = []

    @Option(help: ArgumentHelp("MusicBrainz release ID, where its cover is looked for too.", valueName: "uuid"))
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
            let albums = try await library.albums
            let former = albums[try album.index(in: albums)]
            do {
                return try await library.editAlbum(former.id) { album in
                    change(&album)
                    album = try album.validated(editing: former)
                }
            } catch let problem as AlbumProblem {
                throw ValidationError("--\(AlbumAdd.option(problem.field)): \(problem.message)")
            }
        }
    }

    private func change(_ album: inout Album) {
        if let title { album.title = title }
        if let artist { album.artist = artist }
        if let genre { album.genre = genre }
        if let year { album.year = year }
        if let first = coverUrl.first { album.coverUrl = first }
        // One URL alone is the cover's; those that are tried after it stay.
        if coverUrl.count > 1 { album.coverUrls = Array(coverUrl.dropFirst()) }
        if let releaseId { album.musicBrainzReleaseId = releaseId.isEmpty ? nil : releaseId }
        if let releaseGroupId { album.musicBrainzReleaseGroupId = releaseGroupId.isEmpty ? nil : releaseGroupId }
    }
}
