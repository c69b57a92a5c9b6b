import CoverLibrary

/// Sends edits to the remote library while there are some, waiting longer after each failure.
actor RemoteWatch {
    private static let longestWait = 60.0
    private let library: LibraryAPI
    private let url: String
    private let pages: Pages
    private(set) var state: String?
    private var wait = 1.0
    private var notBefore = ContinuousClock.now
    private var problem: String?

    init(_ library: LibraryAPI, url: String, _ pages: Pages) {
        self.library = library
        self.url = url
        self.pages = pages
    }

    func send() async {
        guard notBefore <= .now else { return await tell(nil) }
        do {
            let outbox = try await library.albums.sendEdits()
            if outbox.problem != nil {
                notBefore = .now + .seconds(wait * .random(in: 0.5...1))
                wait = min(wait * 2, Self.longestWait)
            } else {
                wait = 1
            }
            await tell(outbox)
        } catch {
            var outbox = OutboxState()
            outbox.problem = "\(error)"
            await tell(outbox)
        }
    }

    /// - Parameter outbox: nil: only their number may be another.
    private func tell(_ outbox: OutboxState?) async {
        if let outbox { problem = outbox.refused.first ?? outbox.problem }
        guard let waiting = try? await library.albums.waitingEdits() else { return }
        var object = JSONObject()
        object.add("url", url)
        object.add("waiting", waiting)
        object.add("problem", problem)
        if object.text == state { return }
        state = object.text
        await pages.tellAll("remote", object.text)
    }
}
