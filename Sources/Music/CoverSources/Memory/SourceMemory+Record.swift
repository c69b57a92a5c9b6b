extension SourceMemory {
    /// What is known of an album.
    package struct Record: Sendable {
        /// The last answer to each request, the oldest first.
        package var answers: [SourceAnswer] = []
        /// What these answers found, as it was judged.
        var found: [(url: String, candidate: SourceCandidate)] = []
        /// Whether a person has accepted or refused each cover, by its identity. Covers without a decision are missing.
        var decisions: [String: Bool] = [:]

        package init() {}

        /// The last answer of each source, the oldest first.
        package var lastAnswers: [SourceAnswer] {
            answers.enumerated().filter { index, answer in
                !answers[(index + 1)...].contains { $0.source == answer.source }
            }
            .map(\.element)
        }

        /// The covers that were found, the certain ones first.
        package var candidates: [SourceCandidate] { decided.filter { $0.certainty != .none } }

        /// The covers that are not proposed: refused by a person, or without a picture that is a cover.
        package var rejected: [SourceCandidate] { decided.filter { $0.certainty == .none } }

        /// The pictures without a service that a person has refused for the album.
        package func refusedPictures(of album: AlbumQuery) -> [SourceCandidate] {
            let refused = decisions.filter { !$0.value && $0.key.hasPrefix(SourceCandidate.scheme) }.keys.sorted()
            return refused.map {
                SourceCandidate(picture: String($0.dropFirst(SourceCandidate.scheme.count)), of: album).judged(.refused)
            }
        }

        private var decided: [SourceCandidate] { decided(current) }

        /// Covers with what a person has decided about them.
        package func decided(_ covers: [SourceCandidate]) -> [SourceCandidate] {
            doubting(covers).decided(decisions)
        }

        /// Once a person has refused a certain cover, another source's is doubtful: it is most likely the same.
        func doubting(_ covers: [SourceCandidate]) -> [SourceCandidate] {
            let isDoubted = current.contains { $0.certainty == .certain && $0.decision(decisions) == false }
            guard isDoubted else { return covers }
            return covers.map { cover in
                cover.certainty == .certain && cover.decision(decisions) == nil
                    ? cover.doubted("you refused a certain cover of the album") : cover
            }
        }

        /// What the last answer of each source has found. An earlier one may be to another request, for a title that the tags have no longer.
        var current: [SourceCandidate] {
            let urls = Dictionary(answers.map { ($0.source, $0.url) }) { $1 }
            return found.filter { urls[$0.candidate.source] == $0.url }.map(\.candidate)
        }

        /// What sources other than one have found, also what was refused.
        func candidates(beside source: SourceName) -> [SourceCandidate] {
            current.filter { $0.source != source }
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
