import CoverCache
import CoverFetch
import Platform

/// Where a pack is written.
package enum PackOutput: Sendable {
    /// Replaced atomically when the pack is complete. Stays as it is if there is nothing to pack.
    case file(String)
    /// A pipe or a device. It stays the caller's to close.
    case descriptor(Int32, name: String)
}

/// Writes the covers of a selection into a pack. Synchronous, for a thread that may block.
struct Packer {
    let reader: CacheReader
    let onFailure: (CoverFailure) -> Void
    let progress: (PackSummary) -> Void
    let isCancelled: () -> Bool

    /// - Throws: `SystemError` if the pack cannot be written, or an error of the cache.
    func write(_ selected: SelectedEntries, to output: PackOutput) throws -> PackSummary {
        switch output {
        case .file(let path):
            let file = try AtomicFile(replacing: path, sweeps: true)
            let summary = try write(selected) { try file.append($0) }
            guard !summary.isCancelled, summary.covers > 0 else { return summary }
            try file.sync()
            try file.replace()
            return summary
        case .descriptor(let descriptor, let name):
            return try write(selected) { bytes in
                guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else {
                    throw SystemError("write", path: name)
                }
            }
        }
    }

    private func write(
        _ selected: SelectedEntries, _ output: @escaping ([UInt8]) throws -> Void
    ) throws -> PackSummary {
        var pack = PackWriter(output: output)
        var (selected, summary) = (selected, PackSummary())
        while let batch = try selected.next(from: reader, limit: 1_024) {
            if isCancelled() { return cancelled(summary) }
            for failure in batch.failures { fail(failure, &summary) }
            for entry in batch.entries { pack.add(entry) }
            summary.covers += batch.entries.count
        }
        try pack.finishEntries()
        for digest in pack.digests {
            if isCancelled() { return cancelled(summary) }
            try add(digest, to: &pack, &summary)
            progress(summary)
        }
        try pack.finish()
        summary.packBytes = pack.length
        return summary
    }

    private func cancelled(_ summary: PackSummary) -> PackSummary {
        var summary = summary
        summary.isCancelled = true
        return summary
    }

    private func add(_ digest: Digest, to pack: inout PackWriter, _ summary: inout PackSummary) throws {
        // Packing is no use: it does not change what is evicted first.
        switch try reader.cover(digest: digest, counting: false) {
        case .hit(_, let body):
            try pack.add(digest, body: body)
            summary.bytes += body.count
        case .miss:
            // Evicted or removed since the entries were read.
            return
        case .damaged(let key):
            let detail = "its bytes in the cache are damaged; `sleeve verify --repair` drops them"
            fail(CoverFailure(.cache, url: key, detail: detail), &summary)
        }
    }

    private func fail(_ failure: CoverFailure, _ summary: inout PackSummary) {
        summary.failed += 1
        onFailure(failure)
    }
}
