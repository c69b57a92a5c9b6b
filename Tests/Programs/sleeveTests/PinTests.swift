import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    @Suite struct PinTests {
        private struct PinLine: Decodable {
            var covers, changed, failed, pinned, pinnedBytes: Int
        }

        private func pinned(_ stage: Stage) async throws -> [String] {
            try await stage.entries().filter(\.pinned).map(\.url)
        }

        @Test func `pinned covers survive an eviction of everything, and unpinned ones do not`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<6)
                try await stage.fill(urls, "--parallel", "1")
                let result = try await stage.run("cache", "pin", urls[1], urls[4], "--json")
                #expect(result.status == 0, "\(result)")
                let line: PinLine = try result.json()
                #expect(line.covers == 2 && line.changed == 2 && line.failed == 0 && line.pinned == 2)
                #expect(try await pinned(stage) == [urls[1], urls[4]])
                let plain = try await stage.run("cache", "list").stdout.split(separator: "\n")
                #expect(plain.filter { $0.contains(" * ") }.count == 2)

                let dry = try await stage.run("cache", "evict", "--to", "0", "--dry-run")
                #expect(dry.status == 0 && dry.stdout.hasPrefix("Would evict 4 covers, free "), "\(dry)")
                #expect(dry.stderr.contains("2 pinned covers"), "\(dry)")
                #expect(try await stage.entries().count == 6)
                let evicted = try await stage.run("cache", "evict", "--to", "0")
                #expect(evicted.stdout.hasPrefix("Evicted 4 covers"), "\(evicted)")
                #expect(evicted.stderr.contains("2 pinned covers"), "\(evicted)")
                #expect(try await stage.entries().map(\.url) == [urls[1], urls[4]])
                #expect(try await stage.run("cache", "unpin", urls[1]).status == 0)
                _ = try await stage.run("cache", "evict", "--to", "0")
                #expect(try await stage.entries().map(\.url) == [urls[4]])
            }
        }

        @Test func `a URL that is not cached is named, the rest is pinned, and the exit code is 3`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<2)
                try await stage.fill(urls)
                let missing = stage.urls(7..<8)[0]
                let result = try await stage.run("cache", "pin", urls[0], missing, "ftp://example.org/x", urls[1])
                #expect(result.status == 3, "\(result)")
                #expect(result.stderr.contains("\(missing): not in the cache"), "\(result)")
                #expect(result.stderr.contains("ftp://"), "\(result)")
                #expect(Set(try await pinned(stage)) == Set(urls))
                for (command, message) in [("unpin", missing), ("remove", "\(missing): not in the cache")] {
                    let named = try await stage.run("cache", command, missing)
                    #expect(named.status == 3 && named.stderr.contains(message), "\(named)")
                }
                #expect(try await stage.run("cache", "remove", missing, urls[0], "--force").status == 3)
                #expect(try await stage.entries().map(\.url) == [urls[1]])
            }
        }

        @Test func `covers are pinned by album, list, host and pattern`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<5)
                try await stage.fill(urls, "--parallel", "1")
                _ = try stage.file("albums.json", "[{\"title\":\"Low Tide\",\"coverUrl\":\"\(urls[2])\"}]")
                #expect(try await stage.run("cache", "pin", "--album", "low tide").status == 0)
                #expect(try await pinned(stage) == [urls[2]])
                let list = try stage.list([urls[0], urls[3]])
                #expect(try await stage.run("cache", "pin", list).status == 0)
                #expect(try await pinned(stage) == [urls[0], urls[2], urls[3]])
                #expect(try await stage.run("cache", "unpin", "--all").status == 0)
                #expect(try await stage.run("cache", "pin", "--matching", "*/4.jpg*").status == 0)
                #expect(try await pinned(stage) == [urls[4]])
                let none = try await stage.run("cache", "pin", "--host", "covers.example.org", "--json")
                let line: PinLine = try none.json()
                #expect(line.covers == 0 && line.pinned == 1, "\(none)")
                #expect(try await stage.run("cache", "pin", "--host", "127.0.0.1").status == 0)
                #expect(try await pinned(stage) == urls)
                let input = try await stage.run("cache", "unpin", "-", stdin: .text(urls[1] + "\n"))
                #expect(input.status == 0, "\(input)")
                #expect(try await pinned(stage) == [urls[0], urls[2], urls[3], urls[4]])
            }
        }

        @Test func `covers that do not fit beside the pinned ones fail with the reason, and the run ends`() async throws
        {
            try await withStage { stage in
                let urls = stage.urls(0..<7, "size=30000")
                try await stage.fill(urls, "--capacity", "320K")
                let kept = try await stage.entries().map(\.url)
                #expect(try await stage.run("cache", "pin", "--all").status == 0)
                let list = try stage.list(stage.urls(20..<24, "size=200000"))
                let result = try await stage.run("prefetch", list, "--json")
                #expect(result.status == 3, "\(result)")
                #expect(result.stderr.contains("no room: pinned covers take"), "\(result)")
                #expect(try result.summary().failed == 4)
                #expect(try await pinned(stage) == kept)
            }
        }

        @Test func `stats counts the pinned covers and their bytes`() async throws {
            struct Line: Decodable { var pinned, pinnedBytes: Int }
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3) + stage.urls(3..<5, "same=7"))
                #expect(try await stage.run("cache", "pin", "--matching", "*same=7*").status == 0)
                let line: Line = try await stage.run("cache", "stats", "--json").json()
                let entry = try #require(try await stage.entries().first { $0.url.contains("same=7") })
                #expect(line.pinned == 1 && line.pinnedBytes == entry.bytes)
                #expect(try await stage.run("cache", "stats").stdout.contains("pinned   1 cover, "))
            }
        }
    }

    @Suite struct RemoveTests {
        private struct RemoveLine: Decodable {
            var removed, bytes, pinned, failed: Int
        }

        @Test func `removing by URL, host and pattern removes these entries and frees their space`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<10)
                try await stage.fill(urls, "--parallel", "1")
                let before = try await stage.stats().chargedBytes
                let one: RemoveLine = try await stage.run("cache", "remove", urls[0], "--json").json()
                #expect(one.removed == 1 && one.failed == 0)
                #expect(try await stage.stats().chargedBytes == before - one.bytes)
                #expect(try await stage.run("get", "--offline", urls[0]).status == 3)
                let some = try await stage.run("cache", "remove", "--matching", "*/[12].jpg*")
                #expect(some.stdout.hasPrefix("Removed 0 URLs"), "\(some)")
                #expect(
                    try await stage.run("cache", "remove", "--matching", "*/1.jpg*").stdout.hasPrefix(
                        "Removed 1 URL, freed "))
                #expect(try await stage.entries().map(\.url) == Array(urls[2...]))
                let host = stage.origin.coverURL(0).split(separator: "/")[1]
                #expect(
                    try await stage.run("cache", "remove", "--host", "127.0.0.1:1").stdout.hasPrefix("Removed 0 URLs"))
                #expect(
                    try await stage.run("cache", "remove", "--host", String(host)).stdout.hasPrefix("Removed 8 URLs"))
                #expect(try await stage.entries().isEmpty)
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test func `pinned covers stay without --force, and a dry run removes nothing`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<3)
                try await stage.fill(urls, "--parallel", "1")
                #expect(try await stage.run("cache", "pin", urls[1]).status == 0)
                let dry = try await stage.run("cache", "remove", "--all", "--dry-run")
                #expect(dry.status == 0 && dry.stdout.hasPrefix("Would remove 2 URLs, free "), "\(dry)")
                #expect(try await stage.entries().count == 3)
                let named = try await stage.run("cache", "remove", urls[1])
                #expect(named.status == 3 && named.stderr.contains("--force"), "\(named)")
                #expect(try await stage.run("cache", "remove", "--all").status == 0)
                #expect(try await stage.entries().map(\.url) == [urls[1]])
                #expect(try await stage.run("cache", "remove", urls[1], "--force").status == 0)
                #expect(try await stage.entries().isEmpty)
            }
        }
    }
}
