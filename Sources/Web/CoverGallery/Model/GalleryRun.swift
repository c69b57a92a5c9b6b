import AlbumLibrary
import CoverLibrary

/// A long task that a page can start, such as a refresh: the gallery's program provides it.
package protocol GalleryRun: Sendable {
    /// Of letters: `refresh`.
    var name: String { get }
    /// False if there is nothing that it could do.
    var isPossible: Bool { get async }
    /// Runs to the end, or until the task is cancelled.
    /// - Parameter report: Takes a line on the progress.
    /// - Returns: What came of it, in a sentence or two.
    func run(_ report: @escaping @Sendable (String) async -> Void) async -> String
}

/// The runs that pages can start; one at a time.
actor GalleryRuns {
    private let runs: [any GalleryRun]
    private let sessions: PageSessions
    private var task: Task<Void, Never>?
    private var running: String?
    /// The progress of the run, or the outcome of the last one.
    private var text = ""
    /// The names of the runs that are possible, as members of a JSON object.
    private var possible = "{}"

    init(_ runs: [any GalleryRun], _ sessions: PageSessions) {
        (self.runs, self.sessions) = (runs, sessions)
    }

    /// - Returns: False if one is running; nil if there is none of that name.
    func start(_ name: String) async -> Bool? {
        guard let run = runs.first(where: { $0.name == name }) else { return nil }
        if task != nil { return false }
        task = Task {
            await show(name, "")
            let outcome = await run.run { line in await self.show(name, line) }
            task = nil
            await show(nil, outcome)
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

    private func show(_ running: String?, _ text: String) async {
        (self.running, self.text) = (running, text)
        await publish()
        // Covers that another process stores cause no event in this one.
        await sessions.checkCache()
    }

    private func publish() async {
        await sessions.broadcast(
            "run",
            jsonText {
                $0.add("possible", raw: possible)
                $0.add("running", running)
                $0.add("text", text)
            })
    }
}
