import Platform
import SQLite

/// What sources were asked for which album, and what they answered: `<library file>.state/sources.sqlite3`.
///
/// It spares the services: an album that one of them does not have is asked for again after 30 days. `sleeve why` tells from it. It is
/// disposable, except for what a person has decided: a damaged one is moved aside.
package actor SourceMemory {
    private nonisolated let thread = ThreadExecutor()
    private let path: String
    private let tables: SourceTables

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The path of the memory in the state directory of a library file.
    package static func path(in stateDirectory: String) -> String { stateDirectory + "/sources.sqlite3" }

    /// Opens the memory, and creates it if it is missing.
    /// - Parameter notice: receives what a person should know, such as that a damaged memory was moved aside.
    /// - Throws: `SourceMemoryError`.
    package init(path: String, notice: (String) -> Void) throws(SourceMemoryError) {
        self.path = path
        tables = try SourceMemoryError.opening(
            path, name: "sources",
            notice: { notice("the memory of sources is damaged; moved it to \($0) and started a new one") },
            SourceTables.init(path:))
    }

    deinit { thread.shutdown() }

    /// What is known of an album.
    package struct Record: Sendable {
        /// The last answer to each request, the oldest first.
        package var answers: [SourceAnswer] = []
        /// What these answers found, as it was judged.
        fileprivate var found: [(url: String, candidate: SourceCandidate)] = []
        /// Whether a person has accepted or refused each cover, by its identity. Covers without a decision are missing.
        fileprivate(set) var decisions: [String: Bool] = [:]

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
                    ? cover.doubted("\(cover.match.reason), but you refused a certain cover of the album") : cover
            }
        }

        /// What the last answer of each source has found. An earlier one may be to another request, for a title that the tags have no longer.
        var current: [SourceCandidate] {
            let urls = Dictionary(answers.map { ($0.source, $0.url) }) { $1 }
            return found.filter { urls[$0.candidate.source] == $0.url }.map(\.candidate)
        }

        /// What sources other than one have found, also what was refused.
        func candidates(besides source: SourceName) -> [SourceCandidate] {
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

    /// What is known of an album.
    /// - Parameter album: `AlbumQuery.key`.
    package func record(of album: String) throws(SourceMemoryError) -> Record {
        try perform {
            var record = Record()
            record.decisions = try tables.decisions(of: album)
            record.answers = try tables.tries(of: album)
            record.found = try tables.candidates(of: album)
            return record
        }
    }

    /// Remembers an answer and what it found, in place of the earlier answer to the same request.
    /// - Parameter album: `AlbumQuery.key`.
    package func note(
        _ answer: SourceAnswer, _ candidates: [SourceCandidate] = [], of album: String
    ) throws(SourceMemoryError) {
        try perform { try tables.record(answer, candidates, of: album) }
    }

    /// The keys of the albums for which a doubtful cover was found, and no certain one.
    package func doubtfulAlbums() throws(SourceMemoryError) -> [String] { try perform { try tables.doubtfulAlbums() } }

    /// Counts a cover as certain from now on: the next fill writes it.
    /// - Parameter album: `AlbumQuery.key`.
    package func accept(_ candidate: SourceCandidate, of album: String) throws(SourceMemoryError) {
        try perform { try decide(candidate, of: album, isAccepted: true) }
    }

    /// Replaces what was judged of a cover, until its source is asked again.
    /// - Parameter album: `AlbumQuery.key`.
    func judge(_ candidate: SourceCandidate, of album: String) throws(SourceMemoryError) {
        try perform { try tables.judge(candidate.identity, candidate.match, of: album) }
    }

    /// Withdraws that a person has accepted covers of an album: they are judged again.
    /// - Parameter album: `AlbumQuery.key`.
    package func withdrawAcceptance(of album: String) throws(SourceMemoryError) {
        try perform { try tables.forgetDecisions(of: album, isAccepted: true) }
    }

    /// Does not write or propose covers again, certain ones, too, until each is allowed.
    /// - Parameter album: `AlbumQuery.key`.
    package func refuse(_ candidates: [SourceCandidate], of album: String) throws(SourceMemoryError) {
        try perform {
            for candidate in candidates { try decide(candidate, of: album, isAccepted: false) }
        }
        let record = try record(of: album)
        try perform {
            for (former, cover) in zip(record.current, record.doubting(record.current)) where cover != former {
                try tables.judge(cover.identity, cover.match, of: album)
            }
        }
    }

    private func decide(_ candidate: SourceCandidate, of album: String, isAccepted: Bool) throws {
        for picture in candidate.identities { try tables.decide(picture, of: album, isAccepted: isAccepted) }
    }

    /// Withdraws that a person has refused covers: they may be written or proposed again.
    /// - Parameter album: `AlbumQuery.key`.
    package func allow(_ candidates: [SourceCandidate], of album: String) throws(SourceMemoryError) {
        try perform {
            for picture in candidates.flatMap(\.identities) { try tables.forgetDecision(about: picture, of: album) }
        }
    }

    private func perform<Result>(_ body: () throws -> Result) throws(SourceMemoryError) -> Result {
        try SourceMemoryError.wrapping(path, body)
    }
}
