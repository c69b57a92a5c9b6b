package import AlbumLibrary
package import CoverLibrary
import CoverSizes
package import CoverSources
import Platform

/// The covers that sources have found for the albums of a library, as they are judged today, and what a person decides about them.
package struct FoundCovers: Sendable {
    /// An album with covers. Its number is that in the library, from 1.
    package struct Album: Sendable {
        package var number: Int
        package var album: AlbumLibrary.Album
        package var covers: [SourceCandidate]
        /// What the sources answered.
        package var answers: [SourceAnswer] = []
        /// By the identity of a cover, the number that a fill has given to both.
        fileprivate var proposals: [String: Int] = [:]

        /// The number of the first cover that has one; nil if no fill has found any of them.
        package var proposal: Int? { covers.lazy.compactMap { proposals[$0.identity] }.first }
    }

    private let library: LibraryAPI
    private let state: MusicState?
    private let albums: [AlbumLibrary.Album]
    private let memory: SourceMemory?
    private let sources: [CoverSource]
    private let proposals: [AlbumLibrary.Album.ID: [Proposal]]

    /// - Parameters:
    ///   - state: Nil if no folder was ever scanned.
    ///   - albums: All of the library.
    ///   - memory: Nil if no source was ever asked.
    ///   - sources: All services, at the addresses of their covers.
    package init(
        _ library: LibraryAPI, _ state: MusicState?, _ albums: [AlbumLibrary.Album], _ memory: SourceMemory?,
        _ sources: [CoverSource]
    ) throws {
        (self.library, self.state, self.albums, self.memory, self.sources) = (library, state, albums, memory, sources)
        proposals = Dictionary(grouping: try state?.proposals() ?? [], by: \.album)
    }

    /// Albums with a doubtful cover and no certain one, in the library's order.
    package func doubtful(among ids: Set<AlbumLibrary.Album.ID>? = nil) async throws -> [Album] {
        try await covers { album, isOpen, _ in isOpen && ids?.contains(album.id) ?? true }.compactMap(\.doubtful)
    }

    /// Albums with covers that a person has refused.
    package func refused() async throws -> [Album] {
        try await covers { $2 != nil }.keeping { $0.match == .refused }
    }

    /// All covers that are known of an album; none of one that is not in the library.
    package func covers(of id: AlbumLibrary.Album.ID) async throws -> Album? {
        try await covers(of: id) { album, _, _ in album.id == id }.first
    }

    /// Those of albums that have one at a URL, as it is or as it is printed.
    package func covers(at url: String) async throws -> [Album] {
        try await covers { _, _, _ in true }.keeping { cover in
            cover.pictures.contains { [$0, Redaction.redact($0)].contains(url) }
        }
    }

    /// - Parameters:
    ///   - id: The only album that is wanted.
    ///   - isWanted: Is also given whether no fill has given the album a certain cover, and what a person has said.
    private func covers(
        of id: AlbumLibrary.Album.ID? = nil, _ isWanted: (AlbumLibrary.Album, _ isOpen: Bool, Decisions?) -> Bool
    ) async throws -> [Album] {
        let (facts, filled) = (try state?.facts(of: id) ?? [:], try state?.filledAddresses(of: id) ?? [:])
        let said = try state?.decisions(with: id.map { id in albums.filter { $0.id == id } } ?? albums, filled) ?? [:]
        let namesakes = Namesakes(albums)
        let query = { @Sendable (album: AlbumLibrary.Album) in
            facts[album.id].map { AlbumQuery($0, edited: album) } ?? AlbumQuery(album)
        }
        let wanted = albums.indices.filter { index in
            let (album, address) = (albums[index], filled[albums[index].id])
            // Nothing is known of it.
            if memory == nil, said[album.id] == nil { return false }
            let isFilled = address.map { $0.isAddress(of: album) && $0.facts.hasFacts(of: query(album)) }
            return isWanted(album, isFilled != true, said[album.id])
        }
        // Names are compared by the thousand.
        let parts = ProcessInfo.processInfo.activeProcessorCount
        return try await withThrowingTaskGroup(of: [Album].self) { group in
            for part in 0..<parts {
                group.addTask {
                    var found: [Album] = []
                    for number in stride(from: part, to: wanted.count, by: parts) {
                        try Task.checkCancellation()
                        let (index, album) = (wanted[number], albums[wanted[number]])
                        found.append(
                            try await covers(of: index, query(album), said[album.id] ?? .init(), namesakes))
                    }
                    return found
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }.sorted { $0.number < $1.number }
        }
    }

    private func covers(
        of index: Int, _ query: AlbumQuery, _ decisions: Decisions, _ namesakes: Namesakes
    ) async throws -> Album {
        let album = albums[index]
        var query = query
        namesakes.mark(&query)
        let record = try await SourceMemory.record(of: query, decisions, sources, in: memory)
        var covers = record.covers
        for (index, cover) in covers.enumerated() where !decisions.isEmpty && cover.certainty != .none {
            let name = await library.name(of: cover)
            switch decisions.ruling(on: name) {
            case .alike: covers[index] = cover.alike
            case .refused: covers[index] = cover.judged(.refused)
            case .accepted, .allowed, nil: break
            }
        }
        // Of pictures without a service, and those that were found for other names.
        let others = decisions.current.map { SourceCandidate($0) }.filter { one in
            !covers.contains { $0.name.isNamed(like: one.name) }
        }
        let answers = record.answers.isEmpty ? [] : record.answers + record.lacks
        return Album(
            number: index + 1, album: album, covers: (covers + others).ordered(query), answers: answers,
            proposals: Dictionary((proposals[album.id] ?? []).map { ($0.picture, $0.number) }) { $1 })
    }
}

extension FoundCovers.Album {
    /// What a person means who accepts the album's cover: the one that was accepted before, else the first doubtful one; nil if there is none.
    /// - Parameter number: The number that a fill has given to a cover of it; any other one means the album.
    package func acceptable(_ number: Int?) -> SourceCandidate? {
        if let number, proposals.values.contains(number) { return covers.first { proposals[$0.identity] == number } }
        return covers.first { $0.match == .accepted } ?? doubtful?.covers.first
    }

    /// The album with its doubtful covers; nil if it has none, or a certain one.
    fileprivate var doubtful: Self? {
        if covers.contains(where: { $0.certainty == .certain }) { return nil }
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
    fileprivate func name(of cover: SourceCandidate) async -> PictureName {
        var name = cover.name
        for url in name.urls where name.digest == nil {
            name.digest = (try? await history(of: [CoverRequest(location: url)]))?.first?.cached?.digest
        }
        if let digest = name.digest.flatMap({ Digest($0) }) {
            name.likeness = Likeness(of: BytePath(coverFile(digest)))
        }
        return name
    }
}

extension SourceCandidate {
    /// The cover, whose picture is like one that a person has refused.
    var alike: SourceCandidate { doubted("its picture is like one that you refused") }
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
