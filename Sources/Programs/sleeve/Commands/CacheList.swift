import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct CacheList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", _superCommandName: "sleeve cache",
        abstract: "List the cached covers, oldest first.",
        discussion: """
              sleeve cache list | grep covers.example.org
              sleeve cache list --json | jq -r .url
              sleeve cache list --json | jq -r 'select(.bytes > 1000000).url'

            Each line has the digest's beginning, size, pixels, type and URL; * marks a pinned cover. With --json each line is an object: url, digest, \
            bytes, type, width, height, storedAt, validatedAt and freshUntil (RFC 3339), pinned, and stale, and gone (from its server), if it is.
            """)

    private static let blockSize = 64 << 10

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            var text = ""
            let now = Date()
            for try await cover in library.listings() {
                text += options.json ? json(cover, now).text + "\n" : plain(cover)
                if text.utf8.count > Self.blockSize {
                    try printResult(text)
                    text = ""
                }
            }
            try printResult(text)
        }
    }

    private func plain(_ cover: CoverListing) -> String {
        let size = cover.width.map { "\($0)×\(cover.height ?? 0)" } ?? "-"
        return "\(cover.digest.prefix(12))  \(padded(ByteSize(cover.bytes).description, 8))  \(padded(size, 9))  "
            + "\(cover.mediaType) \(cover.isPinned ? "*" : " ") \(cover.key)\n"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func json(_ cover: CoverListing, _ now: Date) -> JSONObject {
        var line: JSONObject = [
            "url": cover.key, "digest": cover.digest, "bytes": cover.bytes, "type": cover.mediaType,
            "width": cover.width, "height": cover.height, "storedAt": cover.storedAt.ISO8601Format(),
            "validatedAt": cover.validatedAt.ISO8601Format(),
            "freshUntil": cover.freshUntil?.ISO8601Format(), "pinned": cover.isPinned,
        ]
        if cover.isStale(at: now) { line.add("stale", true) }
        if cover.loss?.isGone == true { line.add("gone", true) }
        return line
    }
}

struct CacheStats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", _superCommandName: "sleeve cache",
        abstract: "Show the cache's size, capacity and hit rate.")

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        let configuration = try options.configuration()
        try await withLibrary(configuration, createsCache: false) { library in
            let statistics = try await library.statistics()
            if options.json { return try printJSON(Summary(statistics)) }
            try printResult(text(statistics, configuration.cachePath))
        }
    }

    private struct Summary: Encodable {
        let entries, covers, liveBytes, chargedBytes, diskBytes, sizeBytes, capacityBytes, hits, misses: Int
        let deduplicatedBytes, pinned, pinnedBytes: Int
        let oldest, newest: Date?

        init(_ statistics: CacheStatistics) {
            (entries, covers, liveBytes) = (statistics.entries, statistics.blobs, statistics.liveBytes)
            (chargedBytes, diskBytes) = (statistics.chargedBytes, statistics.diskBytes)
            (sizeBytes, capacityBytes) = (statistics.sizeBytes, statistics.capacity)
            (hits, misses) = (statistics.hits, statistics.misses)
            deduplicatedBytes = statistics.deduplicatedBytes
            (pinned, pinnedBytes) = (statistics.pinned, statistics.pinnedBytes)
            oldest = statistics.oldest.map { Date(milliseconds: $0) }
            newest = statistics.newest.map { Date(milliseconds: $0) }
        }
    }

    private func text(_ statistics: CacheStatistics, _ path: String) -> String {
        let requests = statistics.hits + statistics.misses
        let rate = requests > 0 ? " (\(Decimals.text(100 * Double(statistics.hits) / Double(requests), 1)) %)" : ""
        let rows = [
            ["cache", path],
            ["entries", Decimals.grouped(statistics.entries)],
            ["covers", Decimals.grouped(statistics.blobs)],
            ["size", "\(ByteSize(statistics.liveBytes))"],
            ["on disk", "\(ByteSize(statistics.diskBytes))"],
            ["smaller", "\(ByteSize(statistics.sizeBytes)) of smaller pictures, at most a sixteenth of the capacity"],
            ["used", "\(ByteSize(statistics.chargedBytes)) of \(ByteSize(statistics.capacity))"],
            ["pinned", "\(Decimals.count(statistics.pinned, "cover")), \(ByteSize(statistics.pinnedBytes))"],
            ["saved", "\(ByteSize(statistics.deduplicatedBytes)) by storing equal covers once"],
            ["hits", "\(Decimals.grouped(statistics.hits)) of \(Decimals.grouped(requests))\(rate)"],
            ["misses", Decimals.grouped(statistics.misses)],
            ["oldest", statistics.oldest.map { Date(milliseconds: $0).ISO8601Format() } ?? "-"],
            ["newest", statistics.newest.map { Date(milliseconds: $0).ISO8601Format() } ?? "-"],
        ]
        return TextTable([], rows).text()
    }
}

struct CacheVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", _superCommandName: "sleeve cache",
        abstract: "Check every cached cover for damage.",
        discussion: """
              sleeve cache verify
              sleeve cache verify --repair

            Compares every cover with its SHA-256, and checks the index. Exits with 3 if a cover is damaged, or the index is \
            wrong. Like every command, it first rebuilds an index that is missing or corrupt.

            --repair drops damaged covers, and the next prefetch downloads them again. It rebuilds the index from entries.jsonl \
            if the index is wrong, and deletes files that are no cover of it. It exits with 0, or with 3 if the disk cannot \
            read one, which is kept. If no cover has a file, it drops nothing: their folder may be elsewhere.
            """)

    @Flag(help: "Drop damaged covers, and rebuild a damaged index.")
    var repair = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            let found = try await withProgress((0, 0), every: options.quiet ? nil : .zero, Self.progress) {
                [repair] progress in
                try await repair
                    ? library.repair { progress(($0, $1)) } : library.verify { progress(($0, $1)) }
            }
            MessageList("defect").print(found.defects.map(\.description))
            if found.isCancelled, let signal = Signals.received {
                Log.warning("stopped; not everything was checked")
                throw ExitStatus.stopped(by: signal)
            }
            try options.printResult(Summary(found), text: text(found))
            if repair ? found.unreadable > 0 : !found.defects.isEmpty { throw ExitStatus.someFailed }
        }
    }

    private static func progress(_ covers: (checked: Int, all: Int)) -> [String] {
        ["\(Decimals.grouped(covers.checked))/\(Decimals.grouped(covers.all)) covers"]
    }

    private struct Summary: Encodable {
        let entries, covers, bytes, defects, dropped, unreadable: Int
        /// Entries of the new index; nil if the old one was kept.
        let rebuilt: Int?

        init(_ found: CacheVerification) {
            (entries, covers, bytes, rebuilt) = (found.entries, found.covers, found.bytes, found.rebuiltEntries)
            (defects, dropped, unreadable) = (found.defects.count, found.dropped, found.unreadable)
        }
    }

    private func text(_ found: CacheVerification) -> String {
        let outcome = found.defects.isEmpty ? "all as they were stored" : Decimals.count(found.defects.count, "defect")
        var text = "\(Decimals.count(found.entries, "entry", "entries")), \(Decimals.count(found.covers, "cover")), "
        text += "\(ByteSize(found.bytes)): \(outcome)\n"
        if let rebuilt = found.rebuiltEntries {
            text += "Rebuilt the index: \(Decimals.count(rebuilt, "entry", "entries")).\n"
        }
        if found.dropped > 0 {
            text +=
                "Dropped \(Decimals.count(found.dropped, "damaged cover")); the next prefetch downloads what is missing.\n"
        }
        if found.unreadable > 0 {
            text +=
                "The disk cannot read \(Decimals.count(found.unreadable, "cover")). It may be for a moment only, so they are kept; "
            text += "`sleeve cache remove URL` gives one up.\n"
        }
        if !repair, !found.defects.isEmpty {
            text += "Run `sleeve cache verify --repair`: it drops damaged covers and mends the index.\n"
        }
        return text
    }
}
