import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

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
