import CoverLibrary
import Platform

/// The metrics of a run for Prometheus (text exposition format 0.0.4), in a file that node_exporter reads. The first run
/// writes every series, with 0 for events that have not happened.
struct MetricsFile {
    let path: String
    /// The value of the `command` label of every series.
    let command: String

    /// A completed run.
    struct Run {
        var summary: PrefetchSummary
        var failures: [CoverFailure.Kind: Int]
        var exitCode: Int32
        /// Nil if the cache could not be read.
        var cache: CacheStatistics?
        /// The end of the run, in seconds since 1970.
        var ended = Double(WallClock.milliseconds()) / 1_000
    }

    /// Replaces the file atomically.
    /// - Throws: An exit code, after an error message.
    func write(_ run: Run) throws {
        let success = run.exitCode == 0 ? run.ended : lastSuccess
        try OutputFile.write(Array(text(run, success: success).utf8), to: path)
    }

    /// The end of the last successful run, read from the file to be replaced; 0 if there was none.
    private var lastSuccess: Double {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        let name = "sleeve_last_success_timestamp_seconds{command=\"\(command)\"} "
        return text.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Double($0.dropFirst(name.count)) }
            ?? 0
    }

    private func text(_ run: Run, success: Double) -> String {
        var text = ""
        func family(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) {
            text += "# HELP sleeve_\(name) \(help)\n# TYPE sleeve_\(name) gauge\n"
            for (labels, value) in samples { text += "sleeve_\(name){\(labels)} \(value)\n" }
        }
        let own = "command=\"\(command)\""
        let summary = run.summary
        family(
            "last_run_timestamp_seconds", "When the last run ended.", [(own, Decimals.text(run.ended, 3))])
        family(
            "last_success_timestamp_seconds",
            "When the last run ended that had no failure, finished or out of budget; 0 if none has.",
            [(own, Decimals.text(success, 3))])
        family("last_run_exit_code", "The exit code of the last run.", [(own, "\(run.exitCode)")])
        family("last_run_seconds", "How long the last run took.", [(own, Decimals.text(summary.seconds, 6))])
        family(
            "last_run_covers", "Covers of the last run, by outcome.",
            [
                ("downloaded", summary.downloaded), ("revalidated", summary.revalidated), ("fresh", summary.fresh),
                ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed),
                ("remaining", summary.remaining),
            ].map { ("\(own),outcome=\"\($0.0)\"", "\($0.1)") })
        family(
            "last_run_failures", "Failures of the last run, by class.",
            CoverFailure.Kind.allCases.map { ("\(own),class=\"\($0.rawValue)\"", "\(run.failures[$0] ?? 0)") })
        family("last_run_bytes", "Bytes downloaded in the last run.", [(own, "\(summary.bytes)")])
        let cache = run.cache
        family("cache_entries", "URLs in the cache.", [(own, "\(cache?.entries ?? 0)")])
        family("cache_blobs", "Distinct covers in the cache.", [(own, "\(cache?.blobs ?? 0)")])
        family("cache_bytes", "Bytes of the capacity that the cache uses.", [(own, "\(cache?.chargedBytes ?? 0)")])
        family("cache_capacity_bytes", "Capacity of the cache in bytes.", [(own, "\(cache?.capacity ?? 0)")])
        family("cache_hits", "Cache hits since the cache was created.", [(own, "\(cache?.hits ?? 0)")])
        family("cache_misses", "Cache misses since the cache was created.", [(own, "\(cache?.misses ?? 0)")])
        return text
    }
}
