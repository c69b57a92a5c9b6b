import ArgumentParser
import CommandSupport
import CoverLibrary

struct CacheStats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", _superCommandName: "sleeve cache",
        abstract: "Show the cache's size, capacity and hit rate.")

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        let configuration = try options.configuration()
        try await withLibrary(configuration, createsCache: false) { library in
            let statistics = try await library.statistics()
            if options.json { return try printJSON(json(statistics)) }
            try printResult(text(statistics, configuration.cachePath))
        }
    }

    private func json(_ statistics: CacheStatistics) -> JSONObject {
        [
            "entries": statistics.entries, "blobs": statistics.blobs, "liveBytes": statistics.liveBytes,
            "chargedBytes": statistics.chargedBytes, "diskBytes": statistics.diskBytes,
            "sizeBytes": statistics.sizeBytes, "capacity": statistics.capacity, "hits": statistics.hits,
            "misses": statistics.misses, "deduplicatedBytes": statistics.deduplicatedBytes, "pinned": statistics.pinned,
            "pinnedBytes": statistics.pinnedBytes, "oldest": statistics.oldest.map(Timestamp.text),
            "newest": statistics.newest.map(Timestamp.text),
        ]
    }

    private func text(_ statistics: CacheStatistics, _ path: String) -> String {
        let requests = statistics.hits + statistics.misses
        let rate = requests > 0 ? " (\(Decimals.text(100 * Double(statistics.hits) / Double(requests), 1)) %)" : ""
        let rows: [(String, String)] = [
            ("cache", path),
            ("entries", Decimals.grouped(statistics.entries)),
            ("covers", Decimals.grouped(statistics.blobs)),
            ("size", "\(ByteSize(statistics.liveBytes))"),
            ("on disk", "\(ByteSize(statistics.diskBytes))"),
            ("smaller", "\(ByteSize(statistics.sizeBytes)) of smaller pictures, which make room first"),
            ("used", "\(ByteSize(statistics.chargedBytes)) of \(ByteSize(statistics.capacity))"),
            ("pinned", "\(Decimals.count(statistics.pinned, "cover")), \(ByteSize(statistics.pinnedBytes))"),
            ("saved", "\(ByteSize(statistics.deduplicatedBytes)) by storing equal covers once"),
            ("hits", "\(Decimals.grouped(statistics.hits)) of \(Decimals.grouped(requests))\(rate)"),
            ("misses", Decimals.grouped(statistics.misses)),
            ("oldest", statistics.oldest.map(Timestamp.text) ?? "-"),
            ("newest", statistics.newest.map(Timestamp.text) ?? "-"),
        ]
        return rows.map { name, value in
            name + String(repeating: " ", count: 10 - name.count) + value + "\n"
        }.joined()
    }
}
