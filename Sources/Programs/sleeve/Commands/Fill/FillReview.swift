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
            var removed = refused ? try await library.removedCovers() : []
            for album in others {
                try print(album, removed.filter { $0.name == album.name }.map(\.file))
                removed.removeAll { $0.name == album.name }
            }
            try print(repeated: repeated)
            let isNothing = found.isEmpty && removed.isEmpty
            while let name = removed.first?.name {
                try print(name, removed.filter { $0.name == name }.map(\.file))
                removed.removeAll { $0.name == name }
            }
            if options.json || options.quiet || !isNothing { return }
            try printResult(refused ? "No refused covers.\n" : "No doubtful covers.\n")
        }
    }

    /// Whether the covers of an album are told with those of others.
    private func isRepeated(_ found: FoundCovers.Album) -> Bool {
        !options.json && found.covers.allSatisfy { $0.match.ground == .repeated }
    }

    /// - Parameter removed: What a person has removed of the album's covers.
    private func print(_ found: FoundCovers.Album, _ removed: [Written]) throws {
        if !options.json { return try print(found.name, removed, found.covers) }
        for cover in found.covers {
            let (album, url) = (cover.album, cover.pictures.first.map { Redaction.redact($0) })
            let line: JSONObject = [
                "album": found.album.id, "number": found.number, "artist": found.album.artist,
                "title": found.album.title, "source": cover.source.rawValue, "foundArtist": album.artist,
                "foundTitle": album.title, "foundYear": album.year, "foundTracks": album.trackCount,
                "reason": cover.match.reason, "url": url,
            ]
            try printResult(line.text + "\n")
        }
        try print(found.name, removed)
    }

    /// An album in at most six lines: its name, two for each cover, one for each file that a person has removed, and one that counts the rest.
    private func print(_ name: String, _ removed: [Written], _ covers: [SourceCandidate] = []) throws {
        if options.json {
            for file in removed {
                let line: JSONObject = ["album": file.album, "removed": "\(file.path)"]
                try printResult(line.text + "\n")
            }
            return
        }
        let all =
            covers.map { [$0.summary, $0.pictures.first.map { Redaction.redact($0) } ?? ""] }
            + removed.map { ["you removed \($0.kind == .file ? "" : "the picture of ")\($0.path)"] }
        let isShort = all.joined().count < 6
        let shown = all.reduce(into: [[String]]()) { shown, part in
            if isShort || (shown + [part]).joined().count < 5 { shown.append(part) }
        }
        try printLine(name)
        for line in shown.joined() { try printLine("  \(line)") }
        let more = all.count - shown.count
        if more > 0 { try printLine("  \(more) more; `sleeve why` lists them") }
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
}

extension FoundCovers.Album {
    /// As the other commands take it.
    fileprivate var name: String { "\(number). \(album.fullName)" }
}

extension SourceCandidate {
    /// What the source has, and how that is judged.
    fileprivate var summary: String {
        let title = album.title + (album.year.map { " (\($0))" } ?? "")
        let tracks = album.trackCount.map { Decimals.count($0, "track") }
        let text = [album.artist, title, tracks].compactMap(\.self).joined(separator: ", ")
        return "\(source.title): \(text); \(match.reason)"
    }
}
