import CoverCache
import CoverFetch
import Files
import Platform

/// Where a pack is written.
package enum PackOutput: Sendable {
    /// Replaced atomically when the pack is complete. Stays as it is if there is nothing to pack.
    case file(String)
    /// A pipe or a device. It stays the caller's to close.
    case descriptor(Int32, name: String)
}

/// Writes the covers of a selection into a pack (`PackReader`). Synchronous, for a thread that may block. The lines of its entries are kept
/// in memory until all are known.
struct Packer {
    private let reader: CacheReader
    private let onFailure: (CoverFailure) -> Void
    private let progress: (PackSummary) -> Void
    private let isCancelled: () -> Bool
    private var summary = PackSummary()

    init(
        _ reader: CacheReader, onFailure: @escaping (CoverFailure) -> Void,
        progress: @escaping (PackSummary) -> Void, isCancelled: @escaping () -> Bool
    ) {
        (self.reader, self.onFailure, self.progress) = (reader, onFailure, progress)
        self.isCancelled = isCancelled
    }

    /// - Throws: `SystemError` if the pack cannot be written, or an error of the cache.
    mutating func write(_ selected: SelectedEntries, to output: PackOutput) throws -> PackSummary {
        switch output {
        case .file(let path):
            let file = try AtomicFile(replacing: path, sweeps: true)
            try write(selected) { try file.append($0) }
            guard !summary.isCancelled, summary.covers > 0 else { return summary }
            try file.sync()
            try file.replace()
        case .descriptor(let descriptor, let name):
            try write(selected) { bytes in
                guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else {
                    throw SystemError("write", path: name)
                }
            }
        }
        return summary
    }

    private mutating func write(_ selected: SelectedEntries, _ output: ([UInt8]) throws -> Void) throws {
        var (selected, lines, digests) = (selected, PackReader.header, [Digest]())
        while let batch = try selected.next(from: reader) {
            if isCancelled() { return summary.isCancelled = true }
            for failure in batch.failures { fail(failure) }
            for entry in batch.entries {
                lines += EntryLine(entry).line
                // Entries that share a cover are neighbours.
                if digests.last != entry.digest { digests.append(entry.digest) }
            }
            summary.covers += batch.entries.count
        }
        try add("entries.jsonl", lines, output)
        lines = []
        for digest in digests {
            if isCancelled() { return summary.isCancelled = true }
            try add(digest, output)
            progress(summary)
        }
        try write([UInt8](repeating: 0, count: 2 * TarHeader.size), output)
    }

    private mutating func add(_ digest: Digest, _ output: ([UInt8]) throws -> Void) throws {
        // Packing is no use: it does not change what is evicted first.
        switch try reader.cover(digest: digest, counting: false) {
        case .hit(_, let body):
            let name = digest.description
            try add("covers/\(name.prefix(2))/\(name)", body, output)
            summary.bytes += body.count
        case .miss:
            // Evicted or removed since the entries were read.
            return
        case .damaged(let key):
            let detail = "its bytes in the cache are damaged; `sleeve verify --repair` drops them"
            fail(CoverFailure(.cache, url: key, detail: detail))
        }
    }

    private mutating func add(_ name: String, _ bytes: [UInt8], _ output: ([UInt8]) throws -> Void) throws {
        let header = TarHeader(name, length: bytes.count)
        try write(header.bytes + bytes + [UInt8](repeating: 0, count: header.padding), output)
    }

    private mutating func write(_ bytes: [UInt8], _ output: ([UInt8]) throws -> Void) throws {
        try output(bytes)
        summary.packBytes += bytes.count
    }

    private mutating func fail(_ failure: CoverFailure) {
        summary.failed += 1
        onFailure(failure)
    }
}
