package import AlbumLibrary
package import CoverLibrary
import CoverSizes
package import CoverSources
import Platform

/// The covers that sources have found for the albums of a library, and what a person decides about them.
package struct FoundCovers: Sendable {
    /// An album with covers. Its number is that in the library, from 1.
    package struct Album: Sendable {
        package var number: Int
        package var album: AlbumLibrary.Album
        package var covers: [SourceCandidate]
    }

    private let memory: SourceMemory?
    private let albums: [AlbumLibrary.Album]
    private let decisions: [AlbumLibrary.Album.ID: Decisions]
    private let archive: [CoverSource]

    /// - Parameters:
    ///   - memory: Nil if no source was ever asked.
    ///   - albums: All of the library.
    ///   - decisions: By the ids of their albums.
    ///   - archive: The address of the Cover Art Archive, whose covers the ids in the tags locate.
    package init(
        _ memory: SourceMemory?, _ albums: [AlbumLibrary.Album], _ decisions: [AlbumLibrary.Album.ID: Decisions],
        archive: String
    ) {
        (self.memory, self.albums, self.decisions) = (memory, albums, decisions)
        self.archive = CoverSource.table([.caa], bases: [.caa: archive])
    }

    /// Albums with a doubtful cover and no certain one, in the library's order.
    package func doubtful() async throws -> [Album] {
        let keys = Set(try await memory?.doubtfulAlbums() ?? [])
        return try await covers { keys.contains(AlbumQuery($0).key) || decisions[$0.id] != nil }.compactMap(\.doubtful)
    }

    /// Albums with covers that a person has refused.
    package func refused() async throws -> [Album] {
        try await covers { decisions[$0.id] != nil }.keeping { $0.match == .refused }
    }

    /// All covers that are known of an album, or of those that have one at a URL, as it is or as it is printed.
    package func covers(of number: Int) async throws -> Album {
        Album(number: number, album: albums[number - 1], covers: try await covers(albums[number - 1]))
    }

    package func covers(at url: String) async throws -> [Album] {
        try await covers().keeping { $0.pictures.contains { [$0, Redaction.redact($0)].contains(url) } }
    }

    /// All covers that are known of all albums, or of those that are wanted.
    package func covers(_ isWanted: (AlbumLibrary.Album) -> Bool = { _ in true }) async throws -> [Album] {
        var found: [Album] = []
        for (index, album) in albums.enumerated() where isWanted(album) {
            found.append(Album(number: index + 1, album: album, covers: try await covers(album)))
        }
        return found
    }

    private func covers(_ album: AlbumLibrary.Album) async throws -> [SourceCandidate] {
        let (query, decisions) = (AlbumQuery(album), decisions[album.id] ?? .init())
        let record = try await memory?.record(of: query.key) ?? .init()
        let covers = record.decided(record.current + archive.flatMap { $0.known(query) }, decisions, for: query)
        // Of pictures without a service, and those that were found for other names.
        let others = decisions.current.map { SourceCandidate($0) }.filter { one in
            !covers.contains { $0.name.isNamed(like: one.name) }
        }
        return (covers + others).ordered(query)
    }
}

extension FoundCovers.Album {
    /// What a person means who accepts the album's cover: the one that was accepted before, else the first doubtful one; nil if there is none.
    package var acceptable: SourceCandidate? {
        covers.first { $0.match == .accepted } ?? doubtful?.covers.first
    }

    /// The album with its doubtful covers; nil if it has none, or a certain one. One that has the URL of such a cover was accepted, by an edit
    /// that can be undone.
    fileprivate var doubtful: Self? {
        guard !covers.contains(where: { $0.certainty == .certain }),
            !covers.contains(where: { cover in album.coverURL.map(cover.pictures.contains) ?? false })
        else { return nil }
        return [self].keeping { $0.certainty == .doubtful }.first
    }
}

extension LibraryAPI {
    /// That an album's covers are accepted or refused.
    /// - Parameter run: The fill that writes what is accepted.
    package func decisions(
        _ verdict: Decision.Verdict, _ covers: [SourceCandidate], of album: AlbumLibrary.Album, run: Int64? = nil
    ) async -> [Decision] {
        var decisions: [Decision] = []
        for cover in covers {
            let (name, wasCertain) = (await name(of: cover), cover.certainty == .certain)
            decisions.append(Decision(verdict, name, of: album.id, wasCertain: wasCertain, run: run))
        }
        return decisions
    }

    /// The name of a cover's picture, with what the cache knows of its bytes.
    private func name(of cover: SourceCandidate) async -> PictureName {
        var name = cover.name
        for url in name.urls where name.digest == nil {
            name.digest = (try? await history(of: [url]))?.first?.cached?.digest
        }
        if let digest = name.digest.flatMap({ Digest($0) }) {
            name.likeness = Likeness(of: BytePath(coverFile(digest)))
        }
        return name
    }
}

extension [FoundCovers.Album] {
    /// The albums with those of their covers that are wanted, and those alone that have one.
    fileprivate func keeping(_ isWanted: (SourceCandidate) -> Bool) -> Self {
        compactMap { found in
            var found = found
            found.covers.removeAll { !isWanted($0) }
            return found.covers.isEmpty ? nil : found
        }
    }
}
