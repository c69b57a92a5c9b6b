import CommandSupport
import CoverLibrary
import MusicFolder

/// Covers in the tags of audio files.
extension FillWork {
    /// Embeds the covers of albums.
    /// - Parameters:
    ///   - covers: Those that are for the tags alone.
    ///   - outdated: The cover files that go into no tags, by their numbers.
    ///   - run: nil to write nothing, and count the files that would get the cover that is beside them.
    func embed(
        _ planned: Planned, _ covers: [Album.ID: FillPicture] = [:], outdated: Set<Int64> = [], run: Int64?
    ) async throws -> EmbedSummary {
        let messages = planned.messages
        let albums = planned.scanned.compactMap { one in
            one.album.map { (scanned: one.scanned, id: $0.id, cover: covers[$0.id]) }
        }
        let embedder = Embedder(state, options: options, start: try TagsWorker.starter())
        let jobs = EmbedJob.jobs(albums, replacing: try state.embeddedPictures(), outdated: outdated)
        return try await withProgress(
            EmbedSummary(), every: arguments.interval,
            { ["\(Decimals.count($0.embedded, "file")) with a new cover in its tags"] }
        ) { progress in
            let observer = Embedder.Observer(
                onEvent: { messages.add($0) }, progress: progress, isCancelled: { Signals.received != nil })
            return try await embedder.run(jobs, run: run, observer)
        }
    }
}
