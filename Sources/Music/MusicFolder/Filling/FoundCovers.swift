package import AlbumLibrary
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

    private let memory: SourceMemory
    private let albums: [AlbumLibrary.Album]
    private let archive: [CoverSource]

    /// - Parameters:
    ///   - albums: All of the library.
    ///   - archive: The address of the Cover Art Archive, whose covers the ids in the tags locate.
    package init(_ memory: SourceMemory, _ albums: [AlbumLibrary.Album], archive: String) {
        (self.memory, self.albums) = (memory, albums)
        self.archive = CoverSource.table([.caa], bases: [.caa: archive])
    }

    /// Albums with a doubtful cover and no certain one, in the library's order.
    package func doubtful() async throws -> [Album] {
        let keys = Set(try await memory.doubtfulAlbums())
        return try await covers { keys.contains(AlbumQuery($0).key) }.doubtful
    }

    /// Albums with covers that a person has refused.
    package func refused() async throws -> [Album] { try await covers().keeping { $0.match == .refused } }

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
        let (query, record) = (AlbumQuery(album), try await memory.record(of: AlbumQuery(album).key))
        let known = record.decided(archive.flatMap { $0.known(query) })
        return (record.candidates + record.rejected + known + record.refusedPictures(of: query)).ordered(query)
    }

    /// What a person means who accepts an album's cover: the one that was accepted before, else the first doubtful one; nil if there is none.
    package func acceptable(of found: Album) async throws -> SourceCandidate? {
        if let accepted = found.covers.first(where: { $0.match == .accepted }) { return accepted }
        let isDoubtful = try await memory.doubtfulAlbums().contains(AlbumQuery(found.album).key)
        return isDoubtful ? [found].doubtful.first?.covers.first : nil
    }

    /// Those of some albums of which a person has accepted a cover, which count as any others from now on. - Returns: These albums.
    @discardableResult
    package static func withdrawAcceptance(
        of albums: [AlbumLibrary.Album], in memory: SourceMemory, isDryRun: Bool = false
    ) async throws -> [AlbumLibrary.Album] {
        let accepted = try await memory.acceptedAlbums()
        let withdrawn = albums.filter { accepted.contains(AlbumQuery($0).key) }
        if !isDryRun { for album in withdrawn { try await memory.withdrawAcceptance(of: AlbumQuery(album).key) } }
        return withdrawn
    }

    /// The next fill writes the cover.
    package func accept(_ cover: SourceCandidate, of album: AlbumLibrary.Album) async throws {
        try await memory.accept(cover, of: AlbumQuery(album).key)
    }

    /// No fill proposes or writes the covers, certain ones neither, until they are allowed.
    package func refuse(_ covers: [SourceCandidate], of album: AlbumLibrary.Album) async throws {
        try await memory.refuse(covers, of: AlbumQuery(album).key)
    }

    /// Withdraws a refusal.
    package func allow(_ covers: [SourceCandidate], of album: AlbumLibrary.Album) async throws {
        try await memory.allow(covers, of: AlbumQuery(album).key)
    }
}

extension [FoundCovers.Album] {
    /// The albums with their doubtful covers. One that has the URL of such a cover was accepted, by an edit that can be undone.
    fileprivate var doubtful: Self {
        filter { found in
            !found.covers.contains { cover in found.album.coverURL.map(cover.pictures.contains) ?? false }
        }.keeping { $0.certainty == .doubtful }
    }

    /// The albums with those of their covers that are wanted, and those alone that have one.
    fileprivate func keeping(_ isWanted: (SourceCandidate) -> Bool) -> Self {
        compactMap { found in
            var found = found
            found.covers.removeAll { !isWanted($0) }
            return found.covers.isEmpty ? nil : found
        }
    }
}
