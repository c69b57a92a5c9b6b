import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    @Suite struct CacheTests {
        @Test func `list prints every entry with the fields of the contract`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<3)
                try await stage.fill(urls, "--parallel", "1")
                let result = try await stage.run("cache", "list", "--json")
                let fields: Set = [
                    "url", "digest", "bytes", "type", "width", "height", "storedAt", "validatedAt", "freshUntil",
                    "pinned",
                ]
                let names = try memberNames(result.stdout)
                #expect(names.count == 3 && names.allSatisfy { $0.isSuperset(of: fields) }, "\(result)")
                let entries: [ListLine] = try result.lines()
                #expect(entries.map(\.url) == urls)
                for (number, entry) in entries.enumerated() {
                    #expect(entry.bytes == CoverImage.jpeg(number: number, aboutBytes: 4_000).count)
                    #expect(entry.type == "image/jpeg" && entry.digest.count == 64 && !entry.pinned)
                    #expect((entry.width ?? 0) > 0 && (entry.height ?? 0) > 0)
                    let stored = try Date(entry.storedAt, strategy: .iso8601)
                    #expect(abs(stored.timeIntervalSinceNow) < 300)
                    // The origin says max-age=86400.
                    let fresh = try Date(try #require(entry.freshUntil), strategy: .iso8601)
                    #expect(abs(fresh.timeIntervalSince(stored) - 86_400) < 2)
                }
                let plain = try await stage.run("cache", "list")
                #expect(plain.stdout.split(separator: "\n").map { String($0.split(separator: " ").last ?? "") } == urls)
            }
        }

        @Test func `an empty cache can be listed, counted and verified`() async throws {
            try await withStage { stage in
                _ = try await stage.run("get", stage.urls(0..<1, "status=404")[0])
                for command in ["list", "stats", "verify"] {
                    let result = try await stage.run("cache", command)
                    #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
                }
                #expect(try await stage.run("cache", "list", "--json").stdout.isEmpty)
                let stats = try await stage.stats()
                #expect(stats.entries == 0 && stats.chargedBytes == 0 && stats.oldest == nil)
                #expect(stats.capacityBytes == 10 << 30)
            }
        }

        @Test func `stats counts entries, bytes, hits and misses`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<10))
                for number in 0..<3 { _ = try await stage.run("get", "--offline", stage.urls(number..<number + 1)[0]) }
                for number in 20..<22 {
                    _ = try await stage.run("get", "--offline", stage.urls(number..<number + 1)[0])
                }
                let stats = try await stage.stats()
                let bytes = (0..<10).reduce(0) { $0 + CoverImage.jpeg(number: $1, aboutBytes: 4_000).count }
                #expect(stats.entries == 10 && stats.covers == 10 && stats.liveBytes == bytes)
                #expect(stats.deduplicatedBytes == 0)
                #expect(stats.chargedBytes >= bytes && stats.chargedBytes.isMultiple(of: 4_096))
                #expect(stats.diskBytes >= stats.chargedBytes)
                #expect(stats.hits == 3)
                // The ten of the prefetch, and two offline.
                #expect(stats.misses == 12)
                let plain = try await stage.run("cache", "stats")
                #expect(plain.stdout.contains(stage.cache) && plain.stdout.contains("entries  10\n"), "\(plain)")
            }
        }

        @Test func `evicting to 0 empties the cache and frees the disk space`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<20))
                let result = try await stage.run("cache", "evict", "--to", "0", "--json")
                #expect(result.status == 0)
                #expect(result.stdout.contains("\"evicted\":20,"), "\(result)")
                #expect(try await stage.entries().isEmpty)
                let stats = try await stage.stats()
                #expect(stats.entries == 0 && stats.covers == 0 && stats.chargedBytes == 0 && stats.liveBytes == 0)
                #expect(stage.coverFiles().isEmpty)
                #expect(try await stage.run("cache", "verify").status == 0)
                let before = stage.origin.requestCount
                try await stage.fill(stage.urls(0..<20))
                #expect(stage.origin.requestCount == before + 20)
            }
        }

        @Test func `a lost index is rebuilt, with a message`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<5), "--capacity", "8M")
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: stage.cache + "/index.sqlite3" + suffix)
                }
                let result = try await stage.run("cache", "list")
                #expect(result.status == 0)
                #expect(result.stderr.contains("rebuilding it from entries.jsonl and the covers"), "\(result)")
                #expect(try await stage.run("cache", "stats").stdout.contains("of 8 MiB"))
                #expect(try await stage.entries().count == 5)
                #expect(try await stage.run("cache", "list").stderr.isEmpty)
            }
        }

        @Test func `evicting keeps the most recently used covers, and reading offline is a use`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<10, "size=20000")
                try await stage.fill(urls, "--parallel", "1")
                for number in [0, 3] {
                    #expect(try await stage.run("get", "--offline", urls[number]).status == 0)
                }
                let each = try await stage.stats().chargedBytes / 10
                let result = try await stage.run("cache", "evict", "--to", "\(each * 3)")
                #expect(result.status == 0)
                #expect(result.stdout.hasPrefix("Evicted 7 covers, freed "), "\(result)")
                #expect(try await stage.entries().map(\.url) == [urls[0], urls[3], urls[9]])
                for number in [0, 3, 9] {
                    let kept = try await stage.run("get", "--offline", urls[number])
                    #expect(kept.output == CoverImage.jpeg(number: number, aboutBytes: 20_000))
                }
                #expect(try await stage.run("get", "--offline", urls[1]).status == 3)
                #expect(try await stage.litter().isEmpty)
                let none = try await stage.run("cache", "evict", "--to", "1G")
                #expect(none.status == 0 && none.stdout.hasPrefix("Evicted 0 covers"), "\(none)")
            }
        }
    }

    @Suite struct VerifyTests {
        /// Changes a byte in the middle of a cover.
        private func spoil(_ cover: [UInt8], in stage: Stage) throws {
            let file = URL(filePath: stage.coverFile(digest(cover)))
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 0x10
            try bytes.write(to: file)
        }

        private func cover(_ number: Int) -> [UInt8] { CoverImage.jpeg(number: number, aboutBytes: 4_000) }

        @Test func `a changed byte is detected, dropped by a repair, and downloaded again`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<10)
                try await stage.fill(urls)
                let clean = try await stage.run("cache", "verify", "--json")
                #expect(clean.status == 0)
                #expect(clean.stdout.contains("\"entries\":10,") && clean.stdout.contains("\"covers\":10,"), "\(clean)")
                try spoil(cover(4), in: stage)

                let found = try await stage.run("cache", "verify")
                #expect(found.status == 3)
                #expect(found.stderr.contains("\(urls[4]): the bytes do not match their digest"), "\(found)")
                #expect(found.stderr.split(separator: "\n").count == 1)
                #expect(found.stdout.contains("sleeve cache verify --repair"))
                #expect(try await stage.entries().count == 10)

                let repaired = try await stage.run("cache", "verify", "--repair")
                #expect(repaired.status == 0, "\(repaired)")
                #expect(try await stage.run("cache", "verify").status == 0)
                #expect(Set(try await stage.entries().map(\.url)) == Set(urls).subtracting([urls[4]]))

                let before = stage.origin.requestCount
                try await stage.fill(urls)
                #expect(stage.origin.requestCount == before + 1)
                #expect(try await stage.run("get", "--offline", urls[4]).output == cover(4))
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }
    }
}
