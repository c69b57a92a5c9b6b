import CoverLibrary
import Foundation
import Testing

@testable import sleeve

@Suite struct MetricsFileTests {
    /// The families and the series of a text in the exposition format.
    private struct Exposition {
        var help: [String: String] = [:]
        var type: [String: String] = [:]
        /// Names with labels, and their values.
        var series: [(name: String, value: Double)] = []

        init(_ text: String) throws {
            try #require(text.hasSuffix("\n"))
            var family = ""
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 3).map(String.init)
                if words[0] == "#" {
                    if words[1] == "HELP" { family = words[2] }
                    try #require(words[2] == family)
                    if words[1] == "HELP" { help[family] = words[3] } else { type[family] = words[3] }
                } else {
                    let end = try #require(line.lastIndex(of: " "))
                    let name = String(line[..<end])
                    try #require(name.hasPrefix(family + "{"), "\(name) is not in its family")
                    series.append((name, try #require(Double(line[end...].dropFirst()))))
                }
            }
        }

        func value(_ name: String) -> Double? { series.first { $0.name == name }?.value }
    }

    private func run(_ entries: Int, exitCode: Int32 = 0, ended: Double = 1_000) -> MetricsFile.Run {
        var statistics = CacheStatistics()
        (statistics.entries, statistics.hits) = (entries, 7 * entries)
        return MetricsFile.Run(
            summary: RunSummary(), failures: [:], exitCode: exitCode, cache: statistics, ended: ended)
    }

    @Test func `every series has the cache's absolute path, and the cache's own have no command`() throws {
        let text = MetricsFile(path: "x.prom", cache: "/var/cache/sleeve/", command: "refresh")
            .text(run(3), replacing: "")
        let metrics = try Exposition(text)
        for (name, _) in metrics.series {
            #expect(name.contains("{cache=\"/var/cache/sleeve\""), "\(name)")
            #expect(name.contains("command=") == !name.hasPrefix("sleeve_cache_"), "\(name)")
        }
        #expect(metrics.value("sleeve_cache_entries{cache=\"/var/cache/sleeve\"}") == 3)
        let here = FileManager.default.currentDirectoryPath
        #expect(MetricsFile(path: "x", cache: "some/../cache", command: "refresh").cache == here + "/cache")
    }

    @Test func `counters are named and typed as such, and nothing else is`() throws {
        let metrics = try Exposition(
            MetricsFile(path: "x.prom", cache: "/c", command: "refresh").text(run(3), replacing: ""))
        for (name, type) in metrics.type { #expect((type == "counter") == name.hasSuffix("_total"), "\(name)") }
        #expect(metrics.type["sleeve_cache_hits_total"] == "counter")
        #expect(metrics.type.keys == metrics.help.keys)
    }

    @Test func `a path with quotes, backslashes and line feeds is escaped`() throws {
        let text = MetricsFile(path: "x.prom", cache: "/a\"b\\c\nd", command: "refresh").text(run(1), replacing: "")
        #expect(try Exposition(text).value(#"sleeve_cache_entries{cache="/a\"b\\c\nd"}"#) == 1)
    }

    @Test func `a run replaces its own series in a shared file and keeps all others`() throws {
        let old = "sleeve_cache_entries{command=\"refresh\"} 9\n"
        var text = MetricsFile(path: "x", cache: "/a", command: "refresh").text(run(1, ended: 1), replacing: old)
        text = MetricsFile(path: "x", cache: "/a", command: "prefetch").text(run(2, ended: 2), replacing: text)
        text = MetricsFile(path: "x", cache: "/ab", command: "refresh").text(run(3, ended: 3), replacing: text)
        text = MetricsFile(path: "x", cache: "/a", command: "refresh")
            .text(run(4, exitCode: 3, ended: 4), replacing: text)
        let metrics = try Exposition(text)
        #expect(Set(metrics.series.map(\.name)).count == metrics.series.count)
        func time(_ name: String, _ cache: String, _ command: String) -> Double? {
            metrics.value("sleeve_last_\(name)_timestamp_seconds{cache=\"\(cache)\",command=\"\(command)\"}")
        }
        #expect(time("run", "/a", "refresh") == 4 && time("success", "/a", "refresh") == 1)
        #expect(time("run", "/a", "prefetch") == 2 && time("run", "/ab", "refresh") == 3)
        #expect(metrics.value("sleeve_cache_entries{cache=\"/a\"}") == 4)
        #expect(metrics.value("sleeve_cache_entries{cache=\"/ab\"}") == 3)
        #expect(metrics.value("sleeve_cache_entries{command=\"refresh\"}") == nil)
    }

    @Test func `the lines of other programs stay as they are`() {
        let others = """
            # HELP backup_seconds How long the backup took.
            # TYPE backup_seconds gauge
            backup_seconds{host="a b"} 9.5e1 1700000000

            # a comment
            nonsense
            sleeve_last_run_seconds_of_others 3

            """
        let metrics = MetricsFile(path: "x", cache: "/a", command: "refresh")
        var text = metrics.text(run(1), replacing: others)
        #expect(text.hasPrefix(others))
        let once = text
        text = metrics.text(run(1), replacing: text)
        #expect(text == once)
    }

    @Test func `other files of the directory stay as they are, and a new one can be read by all`() throws {
        let folder = FileManager.default.temporaryDirectory.path() + "sleeve-metrics-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let other = MetricsFile(path: "x", cache: "/a", command: "prefetch").text(run(1), replacing: "")
        try Data(other.utf8).write(to: URL(filePath: folder + "/other.prom"))
        try MetricsFile(path: folder + "/b.prom", cache: "/a", command: "refresh").write(run(2))
        #expect(try String(contentsOfFile: folder + "/other.prom", encoding: .utf8) == other)
        // What is no text is somebody else's file.
        try Data([0xFF, 0xFE]).write(to: URL(filePath: folder + "/c.prom"))
        #expect(throws: (any Error).self) {
            try MetricsFile(path: folder + "/c.prom", cache: "/a", command: "refresh").write(run(2))
        }
        #expect(FileManager.default.contents(atPath: folder + "/c.prom") == Data([0xFF, 0xFE]))
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/b.prom")[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o444 } == 0o444, "node_exporter runs as another user")
    }

    @Test func `covers that are gone for good are told from failures`() throws {
        var run = run(3)
        (run.summary.failed, run.summary.gone) = (5, 3)
        let metrics = try Exposition(MetricsFile(path: "x", cache: "/c", command: "refresh").text(run, replacing: ""))
        let labels = "sleeve_last_run_covers{cache=\"/c\",command=\"refresh\",outcome="
        #expect(metrics.value(labels + "\"failed\"}") == 2 && metrics.value(labels + "\"gone\"}") == 3)
    }

    @Test func `a file of the same series with another name is told, others are not`() throws {
        let folder = FileManager.default.temporaryDirectory.path() + "sleeve-metrics-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func file(_ name: String, _ cache: String = "/c", _ command: String = "refresh") -> MetricsFile {
            MetricsFile(path: "\(folder)/\(name)", cache: cache, command: command)
        }
        try Data("up 1\n".utf8).write(to: URL(filePath: folder + "/shared.prom"))
        for file in [
            file("old.prom"), file("shared.prom"), file("other.prom", "/d"), file("fill.prom", "/c", "prefetch"),
            file("old.txt"),
        ] {
            try file.write(run(1))
        }
        try Data("sleeve_last_run_exit_code{".utf8).write(to: URL(filePath: folder + "/torn.prom"))
        #expect(file("other.prom", "/d").formerFiles(in: folder).isEmpty)
        let found = file("new.prom").formerFiles(in: folder).sorted { $0.path < $1.path }
        #expect(found.map(\.path) == ["old.prom", "shared.prom"].map { "\(folder)/\($0)" })
        #expect(found.map(\.isShared) == [false, true], "lines of other programs stay")
    }
}
