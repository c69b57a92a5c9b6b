import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    @Suite struct BadCacheTests {
        @Test(arguments: [
            ["cache", "stats"], ["cache", "list"], ["cache", "verify"], ["cache", "verify", "--repair"],
            ["cache", "evict", "--to", "0"],
            ["get", "--offline", "http://127.0.0.1:1/a.jpg", "-o", "a.jpg"],
        ]) func `commands that only read a cache report a missing one and do not create it`(command: [String])
            async throws
        {
            try await withStage { stage in
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/empty", withIntermediateDirectories: false)
                for name in ["/typo", "/typo/deep", "/empty"] {
                    let place = stage.folder + name
                    let result = try await run(command + ["--cache", place], environment: stage.environment)
                    #expect(result.status == 1 && result.stdout.isEmpty, "\(result)")
                    #expect(result.stderr.contains("no cache at \(place): ") && result.stderr.contains("--cache"))
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder) == ["empty"])
                #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder + "/empty").isEmpty)
            }
        }

        @Test(.enabled(if: mayMount, "needs a user namespace"))
        func `a cache on a read-only file system is reported`() async throws {
            try await withStage { stage in
                let disk = stage.folder + "/disk"
                let result = try await stage.shell(
                    """
                    exec unshare -Urm sh -c 'mkdir "$1" && mount -t tmpfs tmpfs "$1" && mkdir "$1/cache" &&
                    mount -o remount,ro "$1" && exec "$SLEEVE" prefetch "$2" --cache "$1/cache"' sh "$1" "$2"
                    """, disk, try stage.list(stage.urls(0..<1)))
                #expect(result.status == 1)
                #expect(
                    result.stderr.contains(
                        "the cache directory \(disk)/cache cannot be written: Read-only file system"),
                    "\(result)")
            }
        }

        @Test(.enabled(if: mayMount, "needs a user namespace"))
        func `a run fills the disk to the last MiB and stops with a clear message, and stored covers stay readable`()
            async throws
        {
            try await withStage { stage in
                let few = try stage.list(stage.urls(0..<50), name: "few.txt")
                let many = try stage.list(stage.urls(100..<600, "size=40000"), name: "many.txt")
                let cover = stage.urls(0..<1)[0]
                let result = try await stage.shell(
                    """
                    exec unshare -Urm sh -c '
                    mkdir "$1" && mount -t tmpfs -o size=8m tmpfs "$1" && export SLEEVE_CACHE="$1/cache" || exit 99
                    "$SLEEVE" prefetch "$2" --quiet; echo few=$?
                    "$SLEEVE" prefetch "$3" --capacity 32mb --json --report "$5/report.jsonl" >"$5/summary.json"; echo many=$?
                    [ $(df -B1024 --output=avail "$1" | tail -1) -lt 1024 ]; echo filled=$?
                    [ $(stat -c %s "$1/cache/reserve") -ge 65536 ]; echo reserve=$?
                    "$SLEEVE" cache list --json >"$5/list.jsonl"; echo list=$?
                    "$SLEEVE" cache verify --quiet; echo verify=$?
                    "$SLEEVE" get --offline "$4" >"$5/cover.jpg"; echo get=$?
                    "$SLEEVE" cache evict --to 0 --quiet; echo evict=$?
                    find "$1/cache/covers" -type f | wc -l
                    "$SLEEVE" prefetch "$2" --quiet; echo again=$?
                    ' sh "$@"
                    """, stage.folder + "/disk", few, many, cover, stage.folder)
                let told = "few=0\nmany=3\nfilled=0\nreserve=0\nlist=0\nverify=0\nget=0\nevict=0\n0\nagain=0\n"
                #expect(result.stdout == told, "\(result)")
                let full = " is full, or a quota on it is used up; free some room, or evict covers if they take it"
                #expect(result.stderr.contains(full), "\(result)")
                #expect(
                    try Data(contentsOf: URL(filePath: stage.folder + "/cover.jpg"))
                        == Data(CoverImage.jpeg(number: 0, aboutBytes: 4_000)))

                let summary = try JSONDecoder().decode(
                    Summary.self, from: Data(contentsOf: URL(filePath: stage.folder + "/summary.json")))
                #expect(summary.stopReason?.contains("is full") == true)
                #expect(summary.downloaded > 0 && summary.downloaded < 500 && summary.failed == 0)
                let stored: [ListLine] = try jsonLines(try stage.text(of: stage.folder + "/list.jsonl"))
                // A synced cover whose commit failed is left, and the next opening may still find it.
                #expect(stored.count >= 50 + summary.downloaded)
                let report: [ReportLine] = try jsonLines(try stage.text(of: stage.folder + "/report.jsonl"))
                let acknowledged = Set(report.filter { $0.outcome == "downloaded" }.map(\.url))
                #expect(acknowledged.isSubset(of: Set(stored.map(\.url))))
            }
        }

        @Test(.enabled(if: mayMount, "needs a user namespace"))
        func `a disk that is full from the start is reported`() async throws {
            try await withStage { stage in
                let result = try await stage.shell(
                    """
                    exec unshare -Urm sh -c 'mkdir "$1" && mount -t tmpfs -o size=1m tmpfs "$1" &&
                    { cat /dev/zero >"$1/ballast" 2>/dev/null; exec "$SLEEVE" prefetch "$2" --cache "$1/cache"; }' sh "$1" "$2"
                    """, stage.folder + "/disk", try stage.list(stage.urls(0..<1)))
                #expect(result.status == 1)
                #expect(result.stderr.contains(" is full, or a quota on it is used up; free some room"), "\(result)")
            }
        }

        @Test func `capacity is a limit, is remembered, and the remaining covers are intact`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<300, "size=20000"))
                let result = try await stage.run("prefetch", list, "--capacity", "2M", "--json")
                #expect(result.status != 0, "\(result)")
                #expect(result.stderr.contains("its capacity of 2 MiB is too small for all of them"), "\(result)")
                let downloaded = try result.summary().downloaded
                #expect(downloaded < 300)
                let stats = try await stage.stats()
                #expect(stats.entries == downloaded, "none was evicted")
                #expect(stats.capacityBytes == 2 << 20)
                #expect(stats.chargedBytes <= 2 << 20)
                #expect(stats.entries > 20 && stats.entries == stats.covers)
                #expect(try await stage.entries().count == stats.entries)
                #expect(try await stage.run("cache", "verify").status == 0)
                // What every cache takes beside its covers does not count.
                #expect(try stage.diskBytes() <= 6 << 20)

                // A lower capacity takes effect at once.
                let smaller = try await stage.run("prefetch", try stage.list(stage.urls(0..<1)), "--capacity", "500K")
                #expect(smaller.status == 0, "\(smaller)")
                #expect(smaller.stderr.contains("covers were evicted: the cache exceeded its capacity of 500 KiB"))
                #expect(try await stage.stats().chargedBytes <= 500 << 10)
            }
        }
    }
}
