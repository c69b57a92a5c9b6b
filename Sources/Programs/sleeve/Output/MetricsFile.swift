import CommandSupport
import CoverLibrary
import Platform

/// The metrics of runs for Prometheus (text exposition format 0.0.4), in a file that node_exporter reads.
///
/// Every series has the label `cache`, and those of a run the label `command`. Several caches and commands may share a file: a run
/// replaces its own series and keeps the lines of other programs. Of one cache all commands share a file, because node_exporter
/// rejects a series that two files have. The first run writes every series, with 0 for events that have not happened.
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
        (self.path, self.command, self.shard) = (path, command, shard)
        self.cache = URL(filePath: cache).standardizedFileURL.path
    }

    /// A completed run.
    struct Run {
        var summary: RunSummary
        var failures: [CoverFailure.Kind: Int]
        var exitCode: Int32
        /// Nil if the cache could not be read. The file keeps what it says about it then.
        var cache: CacheStatistics?
        /// The end of the run, in seconds since 1970.
        var ended = Double(WallClock.milliseconds()) / 1_000
    }

    /// Checks that the file can be written, and that it is none of another kind, which a person has named by mistake.
    /// - Throws: An exit code, after an error message.
    func check() throws {
        try OutputFile.check(path)
        if OutputFile.isSpecial(path) { return }
        guard let text = FileManager.default.contents(atPath: path), !Self.isMetrics(text) else { return }
        throw fail("\(path) has something else than metrics; it stays: name another file, or remove it")
    }

    /// Whether a file has comments and series with values alone, in the text exposition format.
    private static func isMetrics(_ bytes: Data) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.split(whereSeparator: \.isNewline).allSatisfy { line in
            let series = line.drop { $0.isWhitespace }
            if series.isEmpty || series.hasPrefix("#") { return true }
            let name = series.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
            // The value follows the labels, and a time may follow it.
            let rest = series.dropFirst(name.count).split(separator: "}").last ?? ""
            let numbers = rest.split(whereSeparator: \.isWhitespace)
            return !name.isEmpty && (1...2).contains(numbers.count) && numbers.allSatisfy { Double($0) != nil }
        }
    }

    /// Replaces the file atomically.
    /// - Throws: An exit code, after an error message.
    func write(_ run: Run) throws {
        // Two runs that end at the same time write one after the other, so that both are kept.
        let directory = FilePath.directory(of: path)
        let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        try OutputFile.update(path) { text(run, replacing: $0) }
        for (file, isShared) in formerFiles(in: directory) {
            let advice = isShared ? "remove its lines sleeve_…\(cacheLabels)…, and keep the others" : "remove it"
            Log.warning(
                "\(file) has metrics of this command and cache, too; \(advice), as node_exporter rejects a series that two files have"
            )
        }
    }

    /// The files of earlier runs that had another --metrics-file in its directory, and whether they have other series than this cache's.
    func formerFiles(in directory: String) -> [(path: String, isShared: Bool)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".prom") }.compactMap { name in
            let file = "\(directory)/\(name)"
            guard !OutputFile.isSame(file, path), AllocatedSpace.length(of: file) < 1 << 20,
                let text = FileManager.default.contents(atPath: file)
            else { return nil }
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            guard lines.contains(where: { $0.hasPrefix("sleeve_last_run_exit_code\(labels)} ") }) else { return nil }
            let isShared = lines.contains { line in
                !line.hasPrefix("#") && !(line.hasPrefix("sleeve_") && line.contains(cacheLabels))
            }
            return (file, isShared)
        }
    }

    private var cacheLabels: String { "{cache=\"\(Self.escaped(cache))\"" }
    private var labels: String { cacheLabels + ",command=\"\(command)\"" }

    /// The text of the file after a run.
    /// - Parameter old: the text before.
    func text(_ run: Run, replacing old: String) -> String {
        var lines = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        func isOwn(_ line: String) -> Bool {
            guard line.hasPrefix("sleeve_"), let brace = line.firstIndex(of: "{") else { return false }
            let rest = line[brace...]
            // Series of earlier versions have no label `cache`, and no run updates them.
            return !rest.hasPrefix("{cache=\"") || rest.hasPrefix(cacheLabels + "}") || rest.hasPrefix(labels + "}")
                || rest.hasPrefix(labels + ",")
        }
        let former = lines.filter(isOwn)
        lines.removeAll(where: isOwn)
        func value(_ series: String) -> String? {
            former.first { $0.hasPrefix(series + " ") }.map { String($0.dropFirst(series.count + 1)) }
        }
        /// Adds series to their family, which is one group of lines.
        func family(_ name: String, _ type: String, _ help: String, _ samples: [String]) {
            let start = "# TYPE sleeve_\(name) "
            let new = samples.map { "sleeve_\(name)" + $0 }
            if let index = lines.firstIndex(where: { $0.hasPrefix(start) }) {
                lines.insert(contentsOf: new, at: index + 1)
            } else if !samples.isEmpty {
                lines += ["# HELP sleeve_\(name) \(help)", start + type] + new
            }
        }
        func ofRun(_ name: String, _ help: String, _ samples: [(label: String, value: String)]) {
            family("last_" + name, "gauge", help, samples.map { "\(labels)\($0.label)} \($0.value)" })
        }
        func ofCache(_ name: String, _ help: String, _ count: Int?, type: String = "gauge") {
            let value = count.map { "\($0)" } ?? value("sleeve_cache_\(name)\(cacheLabels)}") ?? "0"
            family("cache_" + name, type, help, ["\(cacheLabels)} \(value)"])
        }
        let summary = run.summary
        let ended = Decimals.text(run.ended, 3)
        ofRun("run_timestamp_seconds", "When the last run ended.", [("", ended)])
        ofRun(
            "success_timestamp_seconds",
            "When the last run ended that had no failure but covers gone for good, finished or out of budget; 0 if none has.",
            [("", run.exitCode == 0 ? ended : value("sleeve_last_success_timestamp_seconds\(labels)}") ?? "0.000")])
        ofRun("run_exit_code", "The exit code of the last run.", [("", "\(run.exitCode)")])
        ofRun("run_seconds", "How long the last run took.", [("", Decimals.text(summary.seconds, 6))])
        ofRun(
            "run_covers", "Covers of the last run, by outcome.",
            [
                ("downloaded", summary.downloaded), ("revalidated", summary.revalidated), ("fresh", summary.fresh),
                ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed - summary.gone),
                ("gone", summary.gone),
                ("remaining", summary.remaining), ("left_out", summary.leftOut),
            ].map { (",outcome=\"\($0.0)\"", "\($0.1)") })
        ofRun(
            "run_failures", "Failures of the last run, by class.",
            CoverFailure.Kind.allCases.filter { $0 != .unknown }.map {
                (",class=\"\($0.rawValue)\"", "\(run.failures[$0] ?? 0)")
            })
        ofRun("run_bytes", "Bytes downloaded in the last run.", [("", "\(summary.bytes)")])
        ofRun(
            "run_shard", "The shard of the last run.",
            shard.map { [(",index=\"\($0.index)\",count=\"\($0.count)\"", "1")] } ?? [])
        ofCache("entries", "URLs in the cache.", run.cache?.entries)
        ofCache("blobs", "Distinct covers in the cache.", run.cache?.blobs)
        ofCache("bytes", "Bytes of the capacity that the cache uses.", run.cache?.chargedBytes)
        ofCache("capacity_bytes", "Capacity of the cache in bytes.", run.cache?.capacity)
        ofCache("hits_total", "Cache hits since the cache was created.", run.cache?.hits, type: "counter")
        ofCache("misses_total", "Cache misses since the cache was created.", run.cache?.misses, type: "counter")
        return lines.joined(separator: "\n") + "\n"
    }

    /// A value of a label.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
