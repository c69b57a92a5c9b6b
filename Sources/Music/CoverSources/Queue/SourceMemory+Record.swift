import Platform

extension SourceMemory {
    /// What is kept of an album, whatever its age, as it is judged today.
    package struct Record: Sendable {
        /// The answers of sources, in their order.
        package let answers: [SourceAnswer]
        /// Why others cannot be asked.
        package let lacks: [SourceAnswer]
        /// The covers in them, and those that ids locate, which are not judged; with what a person has decided, the best first.
        package let covers: [SourceCandidate]
    }

    /// - Parameters:
    ///   - memory: Nil if no source was ever asked.
    ///   - sources: All services, in the order of asking.
    package static func record(
        of query: AlbumQuery, _ decisions: Decisions, _ sources: [CoverSource], in memory: SourceMemory?
    ) async throws -> Record {
        let search = try await SourceSearch(sources, query, decisions) { try await memory?.reading(of: $0.key) }
        var (answers, lacks, found) = ([SourceAnswer](), [SourceAnswer](), [SourceCandidate]())
        for walk in search.walks {
            var covers = walk.time == nil ? walk.albums : walk.covers
            for index in covers.indices where covers[index].certainty != .none {
                covers[index].match = try await memory?.fault(of: covers[index].identity) ?? covers[index].match
            }
            covers = search.decided(covers)
            found += covers
            if let time = walk.time { answers.append(walk.answer(covers, at: time)) }
            if walk.lack != nil { lacks.append(walk.answer(covers, at: WallClock.milliseconds())) }
        }
        return Record(answers: answers, lacks: lacks, covers: found.ordered())
    }
}

extension [SourceCandidate] {
    /// The covers with what a person has decided in place of what was judged, the best first.
    /// - Parameter all: What sources have found for the album.
    func decided(by decisions: Decisions, for query: AlbumQuery, among all: [SourceCandidate]) -> [SourceCandidate] {
        // Once a person has refused a cover that was certain, or would be for today's facts, another one is doubtful: it is most likely the same.
        let isDoubted = decisions.current.contains { said in
            guard said.verdict == .refused else { return false }
            return said.wasCertain
                || Match.judge(query, said.picture.album, hasNamesake: true).certainty == .certain
                || all.contains { $0.certainty == .certain && $0.name.isNamed(like: said.picture) }
        }
        return map { cover in
            switch decisions.ruling(on: cover.name) {
            case .accepted: cover.judged(.accepted)
            case .refused: cover.judged(.refused)
            case nil where isDoubted && cover.certainty == .certain:
                cover.doubted("you refused a certain cover of the album")
            case .allowed, .alike, nil: cover
            }
        }.ordered()
    }
}
