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
            let file = try PackFile(path)
            let summary = try write(selected) { try file.append($0) }
            if !summary.isCancelled, summary.covers > 0 { try file.finish() }
            return summary
        case .descriptor(let descriptor, let name):
            return try write(selected) { bytes in
                guard bytes.withUnsafeBytes({ AtomicFile.write($0, to: descriptor) }) else {
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
        while let batch = try selected.next(from: reader, limit: 256) {
            if isCancelled() {
                summary.isCancelled = true
                return summary
            }
            for failure in batch.failures { fail(failure, &summary) }
            for entry in batch.entries { try add(entry, to: &pack, &summary) }
            progress(summary)
        }
        try pack.finish()
        summary.packBytes = pack.length
        return summary
    }

    private func add(_ entry: CachedEntry, to pack: inout PackWriter, _ summary: inout PackSummary) throws {
        if pack.hasBody(entry.digest) {
            try pack.add(entry, body: nil)
            summary.covers += 1
            return
        }
        // Packing is no use: it does not change what is evicted first.
        switch try reader.cover(for: entry.metadata.key, counting: false) {
        case .hit(let found, let body):
            do {
                try pack.add(found, body: body)
                summary.covers += 1
                summary.bytes += body.count
            } catch CacheError.embedsRecord {
                fail(
                    CoverFailure(.notAnImage, url: entry.metadata.key, detail: "\(CacheError.embedsRecord)"), &summary)
            }
        case .miss:
            // Evicted or removed since the batch was read.
            return
        case .damaged:
            let detail = "its bytes in the cache are damaged; `sleeve verify --repair` drops them"
            fail(CoverFailure(.cache, url: entry.metadata.key, detail: detail), &summary)
        }
    }

    private func fail(_ failure: CoverFailure, _ summary: inout PackSummary) {
        summary.failed += 1
        onFailure(failure)
    }
}

/// A pack that appears when it is complete. A class, because a closure writes to it.
private final class PackFile {
    private var file: AtomicFile

    init(_ path: String) throws(SystemError) { file = try AtomicFile(replacing: path) }

    func append(_ bytes: [UInt8]) throws(SystemError) { try file.append(bytes) }

    func finish() throws(SystemError) {
        try file.sync()
        try file.replace()
    }
}
