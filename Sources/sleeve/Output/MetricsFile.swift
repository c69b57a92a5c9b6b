import CommandSupport
import CoverLibrary
import Platform

/// The metrics of runs for Prometheus (text exposition format 0.0.4), in a file that node_exporter reads.
///
/// Every series has the label `cache`, and those of a run the label `command`. Several caches and commands may share a file: a run
/// replaces its own series and keeps the others. They may also have a file each: the series of a cache are in the file of its latest
/// run only, because node_exporter rejects a series that two files have. The first run writes every series, with 0 for events that
/// have not happened.
struct MetricsFile {
    let path: String
    /// The absolute path of the cache directory.
    let cache: String
    /// The value of the label `command`.
    let command: String
    /// The part of the lists that the run is about; nil for all.
    let shard: Shard?

    /// - Parameter cache: the path of the cache directory.
    init(path: String, cache: String, command: String, shard: Shard? = nil) {
        let absolute = URL(filePath: cache).standardizedFileURL.path(percentEncoded: false)
        self.path = path
        self.cache = absolute.count > 1 && absolute.hasSuffix("/") ? String(absolute.dropLast()) : absolute
        (self.command, self.shard) = (command, shard)
    }

    /// A completed run.
    struct Run {
        var summary: PrefetchSummary
        var failures: [CoverFailure.Kind: Int]
        var exitCode: Int32
        /// Nil if the cache could not be read. The file keeps what it says about it then.
        var cache: CacheStatistics?
        /// Nil without a tier.
        var tier: TierStatistics?
        /// The end of the run, in seconds since 1970.
        var ended = Double(WallClock.milliseconds()) / 1_000
    }

    /// Replaces the file atomically.
    /// - Throws: An exit code, after an error message.
    func write(_ run: Run) throws {
        if OutputFile.isSpecial(path) { return try OutputFile.write(Array(text(run, replacing: "").utf8), to: path) }
        // Two runs that end at the same time write one after the other, so that both are kept.
        let directory = AtomicFile.directory(of: path)
        let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        let old = try? String(contentsOfFile: path, encoding: .utf8)
        try OutputFile.write(Array(text(run, replacing: old ?? "").utf8), to: path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names where name.hasSuffix(".prom") { removeCache(from: "\(directory)/\(name)") }
    }

    /// Removes the series of this cache from another file.
    private func removeCache(from other: String) {
        guard !OutputFile.isSame(other, path), !OutputFile.isSpecial(other),
            let text = try? String(contentsOfFile: other, encoding: .utf8)
        else { return }
        let rest = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            guard let sample = Sample(line) else { return true }
            return !(sample.name.hasPrefix("sleeve_cache_") && sample.labels == ownLabels + "}")
        }.joined(separator: "\n")
        if rest != text { try? OutputFile.write(Array(rest.utf8), to: other) }
    }

    /// The label of every series, without the closing brace.
    private var ownLabels: String { "{cache=\"\(Self.escaped(cache))\"" }

    /// The text of the file after a run.
    /// - Parameter old: the text before.
    func text(_ run: Run, replacing old: String) -> String {
        let own = ownLabels
        let runLabels = own + ",command=\"\(command)\""
        let oldSamples = old.split(separator: "\n").compactMap(Sample.init)
        let lastSuccess = oldSamples.first { sample in
            sample.name == "sleeve_last_success_timestamp_seconds" && sample.labels == runLabels + "}"
        }
        var text = ""
        func family(
            _ name: String, _ type: String, _ help: String, _ samples: [(label: String, value: String)],
            labels: String
        ) {
            let name = "sleeve_" + name
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            let isOwn = { (sample: Sample) in sample.labels == labels + "}" || sample.labels.hasPrefix(labels + ",") }
            for sample in oldSamples where sample.name == name && sample.hasCache && !isOwn(sample) {
                text += sample.line + "\n"
            }
            for (label, value) in samples { text += "\(name)\(labels)\(label)} \(value)\n" }
        }
        func ofRun(_ name: String, _ help: String, _ samples: [(label: String, value: String)]) {
            family("last_" + name, "gauge", help, samples, labels: runLabels)
        }
        /// A family of some runs only. The series of others stay.
        func ofSomeRuns(_ name: String, _ help: String, _ samples: [(label: String, value: String)]) {
            if !samples.isEmpty || oldSamples.contains(where: { $0.name == "sleeve_last_" + name }) {
                ofRun(name, help, samples)
            }
        }
        func ofCache(_ name: String, _ help: String, _ value: KeyPath<CacheStatistics, Int>, type: String = "gauge") {
            let old = oldSamples.first { $0.name == "sleeve_cache_" + name && $0.labels == own + "}" }?.value
            let value = run.cache.map { "\($0[keyPath: value])" } ?? old ?? "0"
            family("cache_" + name, type, help, [("", value)], labels: own)
        }
        let summary = run.summary
        let ended = Decimals.text(run.ended, 3)
        ofRun("run_timestamp_seconds", "When the last run ended.", [("", ended)])
        ofRun(
            "success_timestamp_seconds",
            "When the last run ended that had no failure, finished or out of budget; 0 if none has.",
            [("", run.exitCode == 0 ? ended : lastSuccess?.value ?? "0.000")])
        ofRun("run_exit_code", "The exit code of the last run.", [("", "\(run.exitCode)")])
        ofRun("run_seconds", "How long the last run took.", [("", Decimals.text(summary.seconds, 6))])
        ofRun(
            "run_covers", "Covers of the last run, by outcome.",
            [
                ("downloaded", summary.downloaded), ("revalidated", summary.revalidated), ("fresh", summary.fresh),
                ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed),
                ("remaining", summary.remaining),
            ].map { (",outcome=\"\($0.0)\"", "\($0.1)") })
        ofRun(
            "run_failures", "Failures of the last run, by class.",
            CoverFailure.Kind.allCases.map { (",class=\"\($0.rawValue)\"", "\(run.failures[$0] ?? 0)") })
        ofRun("run_bytes", "Bytes downloaded in the last run.", [("", "\(summary.bytes)")])
        ofSomeRuns(
            "run_shard", "The shard of the last run.",
            shard.map { [(",index=\"\($0.index)\",count=\"\($0.count)\"", "1")] } ?? [])
        ofSomeRuns(
            "run_tier", "Covers read from the tier and put there in the last run, by result.",
            run.tier?.results.map { (",result=\"\($0.name)\"", "\($0.count)") } ?? [])
        ofCache("entries", "URLs in the cache.", \.entries)
        ofCache("blobs", "Distinct covers in the cache.", \.blobs)
        ofCache("bytes", "Bytes of the capacity that the cache uses.", \.chargedBytes)
        ofCache("capacity_bytes", "Capacity of the cache in bytes.", \.capacity)
        ofCache("hits_total", "Cache hits since the cache was created.", \.hits, type: "counter")
        ofCache("misses_total", "Cache misses since the cache was created.", \.misses, type: "counter")
        return text
    }

    /// A value of a label.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// A line of the file as this program writes it.
    private struct Sample {
        let line: Substring
        let name: Substring
        /// With both braces.
        let labels: Substring
        var value: String { String(line[labels.endIndex...].dropFirst()) }
        /// Series of earlier versions have no label `cache`. They are left out: runs of this version do not update them.
        var hasCache: Bool { labels.hasPrefix("{cache=\"") }

        init?(_ line: Substring) {
            guard let open = line.firstIndex(of: "{"), let close = line.lastIndex(of: "}"), open < close,
                line[close...].hasPrefix("} "), Double(line[close...].dropFirst(2)) != nil
            else { return nil }
            self.line = line
            (name, labels) = (line[..<open], line[open...close])
        }
    }
}
