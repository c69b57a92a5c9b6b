extension SourceMemory {
    /// What is known of an album.
    package struct Record: Sendable {
        /// The last answer to each request, the oldest first.
        package var answers: [SourceAnswer] = []
        /// What these answers found, as it was judged.
        var found: [(url: String, candidate: SourceCandidate)] = []

        package init() {}

        /// The last answer of each source, the oldest first.
        package var lastAnswers: [SourceAnswer] {
            answers.enumerated().filter { index, answer in
                !answers[(index + 1)...].contains { $0.source == answer.source }
            }
            .map(\.element)
        }

        /// Covers with what a person has decided in place of what was judged, the best first.
        package func decided(
            _ covers: [SourceCandidate], _ decisions: Decisions, for query: AlbumQuery
        ) -> [SourceCandidate] {
            doubting(covers, decisions, for: query).map { cover in
                switch decisions.ruling(on: cover.name) {
                case .accepted: cover.judged(.accepted)
                case .refused: cover.judged(.refused)
                case .allowed, .alike, nil: cover
                }
            }.ordered()
        }

        /// Once a person has refused a cover that was certain, or would be for today's facts, another one is doubtful: it is most likely the same.
        func doubting(_ covers: [SourceCandidate], _ decisions: Decisions, for query: AlbumQuery) -> [SourceCandidate] {
            let isDoubted = decisions.current.contains { said in
                guard said.verdict == .refused else { return false }
                return said.wasCertain
                    || Match.judge(query, said.picture.album, hasNamesake: true).certainty == .certain
                    || current.contains { $0.certainty == .certain && $0.name.isNamed(like: said.picture) }
            }
            return covers.map { cover in
                isDoubted && cover.certainty == .certain && decisions.ruling(on: cover.name) == nil
                    ? cover.doubted("you refused a certain cover of the album") : cover
            }
        }

        /// What the last answer of each source has found. An earlier one may be to another request, for a title that the tags have no longer.
        package var current: [SourceCandidate] {
            let urls = Dictionary(answers.map { ($0.source, $0.url) }) { $1 }
            return found.filter { urls[$0.candidate.source] == $0.url }.map(\.candidate)
        }

        /// The answer that spares a request, and what it found; nil if the source is to be asked.
        /// - Parameter now: milliseconds since 1970.
        func answer(of source: SourceName, to url: String, at now: Int64) -> (SourceAnswer, [SourceCandidate])? {
            guard let answer = answers.last(where: { $0.source == source && $0.url == url }), answer.counts(at: now)
            else { return nil }
            return (answer, found.filter { $0.url == url && $0.candidate.source == source }.map(\.candidate))
        }
    }
}
