import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

struct FillReview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", _superCommandName: "sleeve fill",
        abstract: "List the doubtful covers that were found.",
        discussion: """
            The other commands take an album as it is printed, its number, or the URL of a cover.
            """)

    @Flag(help: "List the covers that you refused, and those of fills that you removed.")
    var refused = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let covers = try await FoundCovers(library)
            let found = refused ? try await covers.refused() : try await covers.doubtful()
            let (repeated, others) = (found.filter(isRepeated), found.filter { !isRepeated($0) })
            for album in others { try print(album) }
            try print(repeated: repeated)
            let isNothing = try await refused ? printRemovals(library) && found.isEmpty : found.isEmpty
            if options.json || options.quiet || !isNothing { return }
            try printResult(refused ? "No refused covers.\n" : "No doubtful covers.\n")
        }
    }

    /// Whether the covers of an album are told with those of others.
    private func isRepeated(_ found: FoundCovers.Album) -> Bool {
        !options.json && found.covers.allSatisfy { $0.match.ground == .repeated }
    }

    private func print(_ found: FoundCovers.Album) throws {
        if !options.json { try printLine(found.name) }
        for cover in found.covers {
            let (album, url) = (cover.album, cover.pictures.first.map { Redaction.redact($0) })
            if options.json {
                let line: JSONObject = [
                    "album": found.album.id, "number": found.number, "artist": found.album.artist,
                    "title": found.album.title, "source": cover.source.rawValue, "foundArtist": album.artist,
                    "foundTitle": album.title, "foundYear": album.year, "foundTracks": album.trackCount,
                    "reason": cover.match.reason, "url": url,
                ]
                try printResult(line.text + "\n")
                continue
            }
            let title = album.title + (album.year.map { " (\($0))" } ?? "")
            let tracks = album.trackCount.map { Decimals.count($0, "track") }
            let text = [album.artist, title, tracks].compactMap(\.self).joined(separator: ", ")
            for line in ["\(cover.source.title): \(text)", cover.match.reason, url ?? ""] {
                try printLine("  \(line)")
            }
        }
    }

    /// Such albums stand in one line, before the URLs of the pictures.
    private func print(repeated found: [FoundCovers.Album]) throws {
        if found.isEmpty { return }
        try printLine("\(found.map(\.name).joined(separator: "; ")): \(Match.repeated.reason)")
        var seen: Set<String> = []
        for url in found.flatMap(\.covers).compactMap(\.pictures.first) where seen.insert(url).inserted {
            try printLine("  \(Redaction.redact(url))")
        }
    }

    /// Prints the covers that a person has removed. - Returns: Whether there are none.
    private func printRemovals(_ library: LibraryAPI) async throws -> Bool {
        let removed = try await library.removedCovers()
        for (name, file) in removed {
            if options.json {
                let line: JSONObject = ["album": file.album, "removed": "\(file.path)"]
                try printResult(line.text + "\n")
            } else {
                try printLine(name)
                try printLine("  you removed \(file.kind == .file ? "" : "the picture of ")\(file.path)")
            }
        }
        return removed.isEmpty
    }
}

extension FoundCovers.Album {
    /// As the other commands take it.
    fileprivate var name: String { "\(number). \(album.fullName)" }
}
