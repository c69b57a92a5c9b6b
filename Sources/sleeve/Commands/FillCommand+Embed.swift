import CommandSupport
import CoverLibrary
import MusicFolder
import Synchronization

/// Covers in the tags of audio files.
extension FillCommand {
    /// Embeds covers, and adds what a person should know to `failures`.
    /// - Parameter run: nil to write nothing.
    func embed(
        _ albums: [ScannedAlbum], _ state: MusicState, run: Int64?, _ failures: FailureList,
        onEvent: @escaping @Sendable (EmbedEvent) -> Void = { _ in }
    ) async throws -> EmbedSummary {
        try await withEmbedder(state, { "\(Decimals.count($0.embedded, "file")) with a new cover in its tags" }) {
            event in
            switch event {
            case .left(let path, let reason): failures.add("\(path): \(reason)")
            case .unwritable(let folder, let reason): failures.add("\(folder): no tags can be written: \(reason)")
            case .embedded, .otherFormat, .removed, .kept: break
            }
            onEvent(event)
        } _: { embedder, observer in
            try await embedder.run(EmbedJob.jobs(albums), run: run, observer)
        }
    }

    /// Takes covers out of tags.
    func undo(_ covers: [EmbeddedCover], _ state: MusicState) async throws -> EmbedSummary {
        if covers.isEmpty { return EmbedSummary() }
        return try await withEmbedder(state, { "\(Decimals.count($0.removed, "cover")) taken out of tags" }) { event in
            switch event {
            case .kept(let path): Log.warning("\(path): its tags or its audio were changed since; it stays as it is")
            case .left(let path, let reason): Log.error("\(path): \(reason)")
            case .removed(let path): if dryRun { printPlanned("\(path): the cover would be taken out of its tags") }
            case .embedded, .otherFormat, .unwritable: break
            }
        } _: { [dryRun] embedder, observer in
            try await embedder.undo(covers, isDryRun: dryRun, observer)
        }
    }

    private func withEmbedder(
        _ state: MusicState, _ text: @escaping @Sendable (EmbedSummary) -> String,
        _ onEvent: @escaping @Sendable (EmbedEvent) -> Void,
        _ body: @escaping @Sendable (Embedder, Embedder.Observer) async throws -> EmbedSummary
    ) async throws -> EmbedSummary {
        let embedder = Embedder(
            state, start: try TagsWorker.starter(),
            prepare: { [embedMax] cover in embedMax.flatMap { LibraryAPI.resized(cover, longestSide: $0) } ?? cover })
        do {
            return try await withProgress(EmbedSummary(), every: progress.interval(options), text) { progress in
                try await body(
                    embedder,
                    .init(onEvent: onEvent, progress: progress, isCancelled: { Signals.received != nil }))
            }
        } catch let error as TagLane.Unavailable {
            throw fail(error.description)
        }
    }

    // MARK: Dry run

    /// Prints the files that would get a cover. Of albums without a cover file it is not known whether one would be found.
    func printEmbedding(_ albums: [ScannedAlbum], _ state: MusicState, _ failures: FailureList) async throws {
        let list = PlannedFiles()
        let summary = try await embed(albums, state, run: nil, failures) { event in
            guard case .embedded(let path, let bytes) = event else { return }
            list.files.withLock { $0.append((path, bytes)) }
        }
        for (path, bytes) in list.files.withLock({ $0 }) {
            if options.json {
                try printJSON(["file": "\(path)", "reason": "no picture in its tags", "bytes": bytes])
            } else {
                try printResult("\(path): no picture in its tags; the cover would be embedded".withoutControls + "\n")
            }
        }
        if options.json || options.quiet { return }
        try printResult(
            "\(Decimals.count(summary.embedded, "file")) would get a cover in the tags (\(ByteSize(summary.bytes)) to write)"
                + ", and those of albums whose covers would be found.\n" + summary.otherFormatsText)
    }

    /// Filled on another thread.
    private final class PlannedFiles: Sendable { let files = Mutex<[(path: BytePath, bytes: Int)]>([]) }
}

extension EmbedSummary {
    /// Says which files are left as they are; empty if there are none.
    var otherFormatsText: String {
        let count = otherFormats.values.reduce(0, +)
        if count == 0 { return "" }
        return "\(Decimals.count(count, "file")) of \(otherFormats.keys.sorted().joined(separator: ", ")) "
            + "\(count == 1 ? "is left as it is" : "are left as they are"): "
            + "Sleeve writes covers into MP3, FLAC, MP4, Ogg (Vorbis, Opus).\n"
    }
}
