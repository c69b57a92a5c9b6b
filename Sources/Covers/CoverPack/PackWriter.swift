package import CoverCache
import Files
import Platform

/// Writes cached covers into a pack (`PackReader`). Synchronous, for a thread that may block. The lines of its entries are kept in memory until
/// all are known.
package struct PackWriter {
    private let reader: CacheReader
    private let progress: (PackSummary) -> Void
    private let isCancelled: () -> Bool
    private let onDamaged: (String) -> Void
    private var summary = PackSummary()

    /// - Parameter onDamaged: called with a key of each cover whose bytes in the cache are damaged.
    package init(
        _ reader: CacheReader, progress: @escaping (PackSummary) -> Void, isCancelled: @escaping () -> Bool,
        onDamaged: @escaping (String) -> Void
    ) {
        (self.reader, self.progress) = (reader, progress)
        (self.isCancelled, self.onDamaged) = (isCancelled, onDamaged)
    }

    /// - Parameters:
    ///   - mayBeEmpty: False: without an entry, the file stays as it is.
    ///   - nextEntries: the next entries, of which those that share a cover are neighbours; nil at the end.
    /// - Throws: `SystemError` if the pack cannot be written, an error of the cache, or that of `nextEntries`.
    package mutating func write(
        to output: PackOutput, mayBeEmpty: Bool, _ nextEntries: () throws -> [CachedEntry]?
    ) throws -> PackSummary {
        switch output {
        case .file(let path):
            let file = try AtomicFile(replacing: path, sweeps: true)
            try write(nextEntries) { try file.append($0) }
            guard !summary.isCancelled, mayBeEmpty || summary.covers > 0 else { return summary }
            try file.sync()
            try file.replace()
        case .descriptor(let descriptor, let name):
            try write(nextEntries) { bytes in
                guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else {
                    throw SystemError("write", path: name)
                }
            }
        }
        return summary
    }

    private mutating func write(
        _ nextEntries: () throws -> [CachedEntry]?, _ output: ([UInt8]) throws -> Void
    ) throws {
        var (lines, digests) = (PackReader.header, [Digest]())
        while let entries = try nextEntries() {
            if isCancelled() { return summary.isCancelled = true }
            for entry in entries {
                lines += entry.line.json
                if entry.isPinned { lines += EntryLog.Line.pinned(entry.metadata.key, true).bytes }
                if digests.last != entry.digest { digests.append(entry.digest) }
            }
            summary.covers += entries.count
        }
        try add("entries.jsonl", lines, output)
        lines = []
        for digest in digests {
            if isCancelled() { return summary.isCancelled = true }
            // Packing is no use: it does not change what is evicted first.
            switch try reader.cover(digest: digest, counting: false) {
            case .hit(_, let body):
                let name = digest.description
                try add("covers/\(name.prefix(2))/\(name)", body, output)
                summary.bytes += body.count
            // Evicted or removed since the entries were read.
            case .miss: break
            case .damaged(let key): onDamaged(key)
            }
            progress(summary)
        }
        try write([UInt8](repeating: 0, count: 2 * TarHeader.size), output)
    }

    private mutating func add(_ name: String, _ bytes: [UInt8], _ output: ([UInt8]) throws -> Void) throws {
        let header = TarHeader(name, length: bytes.count)
        try write(header.bytes + bytes + [UInt8](repeating: 0, count: header.padding), output)
    }

    private mutating func write(_ bytes: [UInt8], _ output: ([UInt8]) throws -> Void) throws {
        try output(bytes)
        summary.packBytes += bytes.count
    }
}

/// Where a pack is written.
package enum PackOutput: Sendable {
    /// Replaced atomically when the pack is complete.
    case file(String)
    /// A pipe or a device. It stays the caller's to close.
    case descriptor(Int32, name: String)
}

/// The result of `LibraryAPI.pack(_:to:onFailure:progress:)`.
package struct PackSummary: Sendable, Hashable {
    /// URLs whose covers are in the pack.
    package var covers = 0
    /// Length of the different covers in bytes.
    package var bytes = 0
    /// Length of the pack in bytes.
    package var packBytes = 0
    /// Covers that are not cached or are damaged.
    package var failed = 0
    /// The task was cancelled: no file was written.
    package var isCancelled = false

    /// A summary of nothing.
    package init() {}
}
