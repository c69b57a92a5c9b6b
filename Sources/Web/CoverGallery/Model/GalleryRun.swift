import AlbumLibrary
package import CoverLibrary
package import CoverSources

/// A long task that a page can start, such as a refresh: the gallery's program provides it.
package protocol GalleryRun: Sendable {
    /// Of letters: `refresh`.
    var name: String { get }
    /// False if there is nothing that it could do.
    var isPossible: Bool { get async }
    /// Runs to the end, or until the task is cancelled.
    /// - Parameter report: Takes a line on the progress.
    func run(_ wishes: RunWishes, _ report: @escaping @Sendable (String) async -> Void) async -> RunOutcome
}

/// What a person has entered for a run.
package struct RunWishes: Sendable, Decodable {
    /// A mail address or a page, for services that want one.
    package var contact: String?
    /// A folder of music on the gallery's computer.
    package var folder: String?
    /// A file with a list of albums.
    package var list: [UInt8]?

    package enum CodingKeys: CodingKey { case contact, folder }
    package init(list: [UInt8]? = nil) { self.list = list }
}

/// What came of a run.
package struct RunOutcome: Sendable {
    package struct Failure: Sendable {
        package var album: Album.ID?
        package var title: String?
        package var url: String?
        package var reason: String

        package init(album: Album.ID?, title: String?, url: String?, reason: String) {
            (self.album, self.title, self.url, self.reason) = (album, title, url, reason)
        }
    }

    /// What was done, in numbers: a JSON object. Nil if it did not get so far.
    package var result: String?
    /// Why there is no result; else nil.
    package var problem: String?
    /// The last ones.
    package var failures: [Failure] = []

    package init(result: String?, problem: String?, failures: [Failure] = []) {
        (self.result, self.problem, self.failures) = (result, problem, failures)
    }
}

/// The runs that pages can start; one at a time.
actor GalleryRuns {
    private let runs: [any GalleryRun]
    private let sessions: PageSessions
    private let albums: AlbumIndex
    private var task: Task<Void, Never>?
    private var running: String?
    /// The progress of the run that is running.
    private var progress = ""
    /// The last run that has ended, and what came of it.
    private var last: (name: String, outcome: RunOutcome)?
    /// The names of the runs that are possible, as members of a JSON object.
    private var possible = "{}"

    init(_ runs: [any GalleryRun], _ sessions: PageSessions, _ albums: AlbumIndex) {
        (self.runs, self.sessions, self.albums) = (runs, sessions, albums)
    }

    /// - Returns: False if one is running; nil if there is none of that name.
    func start(_ name: String, _ wishes: RunWishes) async -> Bool? {
        guard let run = runs.first(where: { $0.name == name }) else { return nil }
        if task != nil { return false }
        task = Task {
            last = nil
            await show(name, "")
            var outcome = await run.run(wishes) { line in await self.show(name, line) }
            outcome.failures = await named(outcome.failures)
            last = (name, outcome)
            task = nil
            await show(nil, "")
            await findPossible()
        }
        return true
    }

    /// Stops the run and waits for its end.
    func stop() async {
        task?.cancel()
        await task?.value
    }

    /// Called periodically: finds out which runs are possible.
    func findPossible() async {
        if task != nil { return }
        var names: [String] = []
        for run in runs where await run.isPossible { names.append(run.name) }
        possible = jsonText { for name in names { $0.add(name, true) } }
        await publish()
    }

    /// A run over URLs knows no albums.
    private func named(_ failures: [RunOutcome.Failure]) async -> [RunOutcome.Failure] {
        var named = failures
        for (index, failure) in failures.enumerated() where failure.album == nil {
            guard let album = await albums.album(at: failure.url ?? "") else { continue }
            (named[index].album, named[index].title) = (album.id, album.title)
        }
        return named
    }

    private func show(_ running: String?, _ progress: String) async {
        (self.running, self.progress) = (running, progress)
        await publish()
        // Covers that another process stores cause no event in this one.
        await sessions.checkCache()
    }

    private func publish() async {
        let failures = (last?.outcome.failures ?? []).map { failure in
            jsonText {
                $0.add("album", failure.album)
                $0.add("title", failure.title)
                $0.add("url", failure.url)
                $0.add("reason", failure.reason)
            }
        }
        await sessions.broadcast(
            "run",
            jsonText {
                $0.add("possible", raw: possible)
                $0.add("running", running)
                $0.add("progress", progress)
                $0.add("name", last?.name)
                $0.add("result", raw: last?.outcome.result ?? "null")
                $0.add("problem", last?.outcome.problem)
                $0.add("failures", raw: "[" + failures.joined(separator: ",") + "]")
            })
    }
}

/// The covers that sources have found and that may be other albums'. The gallery asks no sources: its program knows where they are
/// remembered.
package protocol CoverReview: Sendable {
    /// Those of `albums` that have a doubtful cover and no certain one. An album that has the URL of a candidate is none of them: it was
    /// accepted, until the edit is undone.
    func albums(among albums: [Album]) async throws -> [Album.ID]
    /// The best first.
    func candidates(of album: Album) async throws -> [ProposedCover]
    /// What each source answered that was asked for the album's cover, a line each.
    func answers(of album: Album) async throws -> [String]
    /// How many songs the album has; nil if that is not known.
    func trackCount(of album: Album) -> Int?
    /// None of these candidates is the album's.
    /// - Parameter pictures: URLs of them; nil: all of the album's candidates.
    /// - Returns: The URLs of those that were refused, for `allow`.
    func refuse(_ pictures: [String]?, of album: Album) async throws -> [String]
    /// Takes a refusal back.
    func allow(_ pictures: [String], of album: Album) async throws
}

/// A cover that may be an album's.
package struct ProposedCover: Sendable {
    /// URLs of the picture in the order of trying; not empty.
    package var pictures: [String]
    /// The source's name.
    package var source: String
    /// The album as the source describes it.
    package var artist, title: String
    package var year: String
    /// How many; nil if the source does not say.
    package var tracks: Int?
    /// What is known of it: what agrees with the album, says nothing, or contradicts.
    package var evidence: [Match.Line]

    package init(
        pictures: [String], source: String, artist: String, title: String, year: String, tracks: Int? = nil,
        evidence: [Match.Line]
    ) {
        (self.pictures, self.source) = (pictures, source)
        (self.artist, self.title, self.year) = (artist, title, year)
        (self.tracks, self.evidence) = (tracks, evidence)
    }
}
