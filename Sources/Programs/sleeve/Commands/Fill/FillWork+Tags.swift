import CommandSupport
import CoverLibrary
import MusicFolder

/// Covers in the tags of audio files.
extension FillWork {
    /// Embeds the covers of albums.
    /// - Parameter run: nil to write nothing, and count the files that would get the cover that is beside them.
    func embed(
        _ albums: [(scanned: ScannedAlbum, cover: BytePath?)], run: Int64?, _ messages: FillMessages
    ) async throws -> EmbedSummary {
        try await Self.withEmbedder(
            state, every: arguments.interval,
            { ["\(Decimals.count($0.embedded, "file")) with a new cover in its tags"] }
        ) {
            messages.add($0)
        } _: { embedder, observer in
            try await embedder.run(EmbedJob.jobs(albums), run: run, observer)
        }
    }

    static func withEmbedder(
        _ state: MusicState, every interval: Duration?,
        _ forms: @escaping @Sendable (EmbedSummary) -> [String], _ onEvent: @escaping @Sendable (EmbedEvent) -> Void,
        _ body: @escaping @Sendable (Embedder, Embedder.Observer) async throws -> EmbedSummary
    ) async throws -> EmbedSummary {
        let embedder = Embedder(state, start: try TagsWorker.starter())
        return try await withProgress(EmbedSummary(), every: interval, forms) { progress in
            try await body(
                embedder, .init(onEvent: onEvent, progress: progress, isCancelled: { Signals.received != nil }))
        }
    }
}
