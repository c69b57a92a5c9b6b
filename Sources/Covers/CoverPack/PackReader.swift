package import CoverCache
import Platform
import Synchronization

/// Reads a pack: covers with their metadata in one tar file.
///
///     entries.jsonl        a line for each entry (`EntryLog`), and one for a pin, after {"sleeve":"pack 1"}
///     covers/ab/abcdef…    a cover, named by the SHA-256 of its bytes
///
/// Where `entries.jsonl` comes first, each cover can be stored as it arrives. Every cover is compared with its name; damaged ones are left
/// out.
package final class PackReader: Sendable {
    fileprivate static let format = "pack 1"
    /// The first lines of packs and caches.
    private static let formats = [format, "entries 1"]
    /// The first line of `entries.jsonl`.
    package static let header = EntryLog.Line.format(format).bytes

    package enum Item: Sendable {
        /// The bytes match their digest.
        case cover(ImportedCover)
        /// Something is damaged or missing.
        case damage(CacheDefect)
    }

    private struct State {
        /// Nil at the end.
        var tar: TarReader?
        var entries = PackEntries()
    }

    private let state: Mutex<State>
    private let path: String
    /// The keys that were pinned where the pack was made.
    package let pinned: Set<String>

    /// - Parameters:
    ///   - descriptor: of a file or a pipe. It stays the caller's to close.
    ///   - path: for errors.
    /// - Throws: `CacheError` if it cannot be read or is no pack.
    package init(descriptor: Int32, path: String) throws {
        self.path = path
        var entries = PackEntries()
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw CacheError.notAPack(path) }
        var tar = TarReader(descriptor: descriptor, path: path)
        guard try tar.isArchive() else { throw CacheError.notAPack(path) }
        let isSeekable = lseek(descriptor, 0, SEEK_CUR) >= 0
        while true {
            guard let item = try tar.next() else { throw CacheError.notAPack(path) }
            guard case .file(let header) = item else { continue }
            if header.name == "entries.jsonl" || header.name.hasSuffix("/entries.jsonl") {
                try tar.readLines { line in
                    if case .format(let format) = line, !Self.formats.contains(format) {
                        throw CacheError.newerPack(path, format: format)
                    }
                    entries.read(line)
                }
                break
            }
            if !isSeekable, Self.digest(header.name) != nil { throw CacheError.unorderedPack(path) }
        }
        if isSeekable { try tar.rewind() }
        pinned = entries.pinned
        state = Mutex(State(tar: tar, entries: entries))
    }

    /// The digest that a cover's file is named by.
    private static func digest(_ name: String) -> Digest? {
        let parts = name.split(separator: "/")
        guard parts.count >= 3, parts[parts.count - 3] == "covers" else { return nil }
        return Digest(String(parts[parts.count - 1]))
    }

    /// The next items, about `length` bytes of them; none at the end.
    /// - Throws: `CacheError` if the pack cannot be read.
    package func next(_ length: Int) throws -> [Item] {
        try state.withLock { state in
            var items: [Item] = []
            var bytes = 0
            while bytes < length, let found = try next(&state) {
                for item in found { if case .cover(let cover) = item { bytes += cover.body.count } }
                // Damage is counted too: a file may hold millions of damaged blocks.
                bytes += found.count * TarHeader.size
                items += found
            }
            return items
        }
    }

    private func next(_ state: inout State) throws -> [Item]? {
        guard var tar = state.tar.take() else { return nil }
        let item = try tar.next()
        defer { if item != nil { state.tar = tar } }
        switch item {
        case .damage(let problem): return [damage(nil, at: location(tar), problem)]
        case .file(let header):
            guard let digest = Self.digest(header.name) else { return [] }
            // A file that is too large; the end of the archive is reported by itself.
            guard let body = try tar.readFile() else {
                return tar.isAtEnd ? [] : [damage(digest, "it is too large", &state)]
            }
            guard Digest(of: body) == digest else {
                return [damage(digest, "the bytes do not match their digest", &state)]
            }
            return state.entries.take(digest).map { .cover(ImportedCover($0, body, digest)) }
        case nil: return unread(state.entries) + missing(state.entries, tar)
        }
    }

    /// The lines of which nobody knows what they name.
    private func unread(_ entries: PackEntries) -> [Item] {
        // What was copied from a cache in use may end within a line.
        entries.unread.filter { entries.isComplete || $0 < entries.lines }
            .map {
                damage(
                    nil, at: "\(path): entries.jsonl:\($0)", "the line is damaged; the cover that it names is left out")
            }
    }

    /// The damage that the end of a tar file shows.
    private func missing(_ entries: PackEntries, _ tar: TarReader) -> [Item] {
        let missing = entries.isComplete ? entries.keys : []
        if !tar.hasEnd {
            let covers = missing.isEmpty ? "" : "; the covers of \(missing.count) URLs are missing"
            return [damage(nil, at: location(tar), "the file ends early\(covers)")]
        }
        // Lines of a cache may be of covers that were evicted.
        if !entries.isComplete, !entries.hasCovers, !entries.keys.isEmpty {
            return [damage(nil, at: path, "it has none of the covers of its \(entries.keys.count) URLs")]
        }
        return missing.map { damage($0, at: path, "its bytes are not in the pack") }
    }

    private func damage(_ digest: Digest, _ problem: String, _ state: inout State) -> Item {
        damage(state.entries.take(digest).first?.key, at: "\(path): \(digest)", problem)
    }

    private func damage(_ key: String?, at location: String, _ problem: String) -> Item {
        .damage(CacheDefect(key, at: location, problem))
    }

    private func location(_ tar: TarReader) -> String { "\(path) at \(tar.offset)" }
}

/// The entries of a pack that no cover was read for yet.
private struct PackEntries {
    private var byKey: [String: EntryLine] = [:]
    /// The keys of all lines that name a cover: a later line may have given a key another one.
    private var byDigest: [Digest: [String]] = [:]
    private(set) var pinned: Set<String> = []
    /// Whether the covers of all entries should be there.
    private(set) var isComplete = false
    /// A cover was there, damaged or not.
    private(set) var hasCovers = false

    /// The number of lines that were read, and the numbers of those that are damaged or unknown, from 1.
    private(set) var lines = 0, unread: [Int] = []

    mutating func read(_ line: EntryLog.Line?) {
        lines += 1
        if let line { add(line) } else { unread.append(lines) }
    }

    /// Later lines of a URL count.
    private mutating func add(_ line: EntryLog.Line) {
        switch line {
        case .format(let format): isComplete = format == PackReader.format
        case .pinned(let key, true): pinned.insert(key)
        case .pinned(let key, false): pinned.remove(key)
        case .capacity: break
        case .removed(let key): byKey[key] = nil
        case .stored(let entry):
            byKey[entry.metadata.key] = entry
            byDigest[entry.digest, default: []].append(entry.metadata.key)
        }
    }

    var keys: [String] { byKey.keys.sorted() }

    mutating func take(_ digest: Digest) -> [EntryMetadata] {
        let keys = byDigest.removeValue(forKey: digest) ?? []
        hasCovers = hasCovers || !keys.isEmpty
        return keys.compactMap { byKey[$0]?.digest == digest ? byKey.removeValue(forKey: $0)?.metadata : nil }
    }
}

/// The result of `LibraryAPI.unpack(_:dryRun:onFailure:progress:)`.
package struct UnpackSummary: Sendable, Hashable {
    /// Covers that were stored.
    package var stored = 0
    /// Those of `stored` whose bytes were already stored.
    package var deduplicated = 0
    /// Covers that are cached already and were validated at the same time or later. They stay as they are.
    package var kept = 0
    /// Damaged records, and covers that could not be stored.
    package var failed = 0
    /// Length of the stored covers in bytes.
    package var bytes = 0
    /// The task was cancelled before the end of the pack.
    package var isCancelled = false

    /// A summary of nothing.
    package init() {}
}
