import ArgumentParser
import CoverLibrary

/// Fields of an album that `add` and `edit` set.
struct AlbumFields: ParsableArguments {
    @Option(help: "The artist.")
    var artist: String?

    @Option(help: "The genre.")
    var genre: String?

    @Option(help: "The year of release, four digits.")
    var year: String?

    @Option(help: ArgumentHelp("MusicBrainz release ID, to find a cover in the Cover Art Archive.", valueName: "uuid"))
    var releaseId: String?

    @Option(
        help: ArgumentHelp(
            "MusicBrainz release-group ID, the last place to look for a cover.", valueName: "uuid"))
    var releaseGroupId: String?

    var isEmpty: Bool { [artist, genre, year, releaseId, releaseGroupId].allSatisfy { $0 == nil } }

    /// Sets the fields that were given. An empty text clears a field.
    func apply(to album: inout Album) {
        if let artist { album.artist = artist }
        if let genre { album.genre = genre }
        if let year { album.year = year }
        if let releaseId { album.musicBrainzReleaseID = releaseId.isEmpty ? nil : releaseId }
        if let releaseGroupId { album.musicBrainzReleaseGroupID = releaseGroupId.isEmpty ? nil : releaseGroupId }
    }
}

extension AlbumProblem {
    /// The problem, with the option that sets the field.
    var optionMessage: String {
        let option =
            switch field {
            case "coverUrl", "coverUrls": "cover-url"
            case "musicBrainzReleaseId": "release-id"
            case "musicBrainzReleaseGroupId": "release-group-id"
            default: field
            }
        return "--\(option): \(message)"
    }
}
