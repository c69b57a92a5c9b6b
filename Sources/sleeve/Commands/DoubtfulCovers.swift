import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// Covers that may be another album's: sources have found them, and a person decides about them.
struct DoubtfulCovers {
    typealias Found = (album: Album, candidates: [SourceCandidate])

    private let memory: SourceMemory
    private let albums: [Album]

    /// Nil if no source was ever asked for the library.
    init?(_ library: LibraryAPI) async throws {
        guard let memory = SourceMemory.existing(for: library.configuration) else { return nil }
        (self.memory, albums) = (memory, try await library.albums.all())
    }

    /// Albums with a doubtful cover and no certain one, in the library's order.
    func all() async throws -> [Found] {
        var found: [Found] = []
        for album in try await memory.doubtfulAlbums(among: albums) { found.append(try await covers(of: album)) }
        return found
    }

    private func covers(of album: Album) async throws -> Found {
        (album, try await memory.record(of: AlbumQuery(album).key).candidates)
    }

    /// Accepts the first cover of an album, or the one at a URL. - Returns: The albums that have it.
    func accept(_ reference: String) async throws -> [Album] {
        let found = try await covers(named: reference)
        for (album, candidates) in found { try await memory.accept(candidates[0], of: AlbumQuery(album).key) }
        return found.map(\.album)
    }

    /// Refuses all covers of an album, or the one at a URL. - Returns: The number of covers.
    func refuse(_ reference: String) async throws -> Int {
        let found = try await covers(named: reference)
        for (album, candidates) in found { try await memory.refuse(candidates, of: AlbumQuery(album).key) }
        return found.reduce(0) { $0 + $1.candidates.count }
    }

    /// The covers about which a person may decide: doubtful ones, and those that were accepted.
    /// - Parameter reference: An album, or the URL of a cover.
    /// - Throws: An exit code, after a message, if there are none.
    private func covers(named reference: String) async throws -> [Found] {
        let isURL = reference.contains("://")
        var found = [Found]()
        if isURL {
            found = try await all()
        } else {
            found = [try await covers(of: albums[try AlbumReference(argument: reference).index(in: albums)])]
        }
        found = found.map { album, candidates in
            (
                album,
                candidates.filter { candidate in
                    isURL
                        ? candidate.pictures.contains(reference)
                        : candidate.certainty == .doubtful || candidate.match == .accepted
                }
            )
        }.filter { !$0.candidates.isEmpty }
        if found.isEmpty {
            throw fail("no doubtful cover of “\(reference)” is known; `sleeve fill --review` lists them")
        }
        return found
    }

    // MARK: Output

    static func print(_ found: Found) throws {
        let album = found.album
        try printLine("\(album.shortName)\(album.year.isEmpty ? "" : " (\(album.year))")")
        for candidate in found.candidates {
            let (cover, tracks) = (candidate.album, candidate.album.trackCount.map { Decimals.count($0, "track") })
            let facts = [cover.artist, cover.title] + [cover.year.map { "(\($0))" }, tracks].compactMap { $0 }
            try printLine("  \(candidate.source.title): \(facts.joined(separator: ", "))")
            try printLine("  \(candidate.match.reason)")
            try printLine("  \(Redaction.redact(candidate.pictures.first ?? ""))")
        }
    }

    /// A line for each cover.
    static func printJSON(_ found: Found) throws {
        for candidate in found.candidates {
            try CommandSupport.printJSON([
                "album": found.album.id, "artist": found.album.artist, "title": found.album.title,
                "source": candidate.source.rawValue, "foundArtist": candidate.album.artist,
                "foundTitle": candidate.album.title, "foundYear": candidate.album.year,
                "foundTracks": candidate.album.trackCount, "reason": candidate.match.reason,
                "url": candidate.pictures.first,
            ])
        }
    }
}

extension SourceMemory {
    /// The albums with a doubtful cover and no certain one. One that has the URL of such a cover is not doubtful: a person has accepted it, by
    /// an edit that can be undone.
    func doubtfulAlbums(among albums: [Album]) throws -> [Album] {
        let keys = Set(try doubtfulAlbums())
        var doubtful: [Album] = []
        for album in albums {
            let key = AlbumQuery(album).key
            guard keys.contains(key) else { continue }
            if let url = album.coverURL, !url.isEmpty,
                try record(of: key).candidates.contains(where: { $0.pictures.contains(url) })
            {
                continue
            }
            doubtful.append(album)
        }
        return doubtful
    }
}
