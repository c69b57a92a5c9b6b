import Foundation
import OriginServer
import SleeveStage
import Testing

extension CacheCommandTests {
    /// Many processes, and clocks that differ.
    @Suite struct StoreProcessTests {
        @Test func `many short processes side by side leave no litter`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<60) + stage.urls(60..<80, "size=4000&same=5")
                let list = try stage.list(urls)
                let result = try await stage.shell(
                    "xargs -P 8 -I{} \"$SLEEVE\" get --quiet -o /dev/null {} <\"$1\"", list)
                #expect(result.status == 0, "\(result)")
                #expect(Set(try await stage.entries().map(\.url)) == Set(urls))
                #expect(try await stage.litter().isEmpty)
                #expect(CacheCheck.files(in: stage.cache).count == 60)
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test func `processes that store, remove and evict the same covers side by side agree in the end`() async throws
        {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<40) + stage.urls(40..<80, "size=4000&same=3"))
                let result = try await stage.shell(
                    """
                    for round in 1 2 3; do
                    "$SLEEVE" prefetch "$1" --quiet & "$SLEEVE" cache remove --matching "*/??.jpg*" --quiet &
                    "$SLEEVE" prefetch "$1" --quiet & "$SLEEVE" cache evict --to 0 --quiet & "$SLEEVE" cache verify --repair --quiet &
                    wait
                    done
                    "$SLEEVE" prefetch "$1" --quiet
                    """, list)
                #expect(result.status == 0, "\(result)")
                #expect(try await stage.entries().count == 80)
                #expect(try await stage.run("cache", "verify").status == 0)
                #expect(try await stage.litter().isEmpty)
            }
        }

        #if os(Linux)
            private static let yearBack = ["DISK_CLOCK": "\(-365 * 86_400)"]

            @Test func `a clock that is set back neither loses a cover nor brings an old one back`() async throws {
                try await withStage { stage in
                    var options = OriginOptions()
                    options.cacheControl = "max-age=0"
                    options.size = 4_000
                    let first = try await Origin.start(options)
                    let urls = (0..<6).map { first.coverURL($0) }
                    try await stage.fill(urls)
                    await first.stop()
                    options.port = first.port
                    options.size = 5_000
                    let second = try await Origin.start(options)
                    let refreshed = await (try stage.start(["refresh", "--all", "--quiet"], disk: Self.yearBack)).exit()
                    #expect(refreshed.status == 0, "\(refreshed)")
                    let added = try stage.list((6..<9).map { second.coverURL($0) })
                    let stored = await (try stage.start(["prefetch", added, "--quiet"], disk: Self.yearBack)).exit()
                    #expect(stored.status == 0, "\(stored)")
                    await second.stop()
                    let expected = Dictionary(
                        uniqueKeysWithValues: (0..<9).map { (second.coverURL($0), cover($0, aboutBytes: 5_000)) })
                    #expect(try await stage.unreadable(expected).isEmpty)
                    #expect(try await stage.entries().count == 9)
                    // The log of entries is read in its order, not in that of times.
                    for name in Stage.indexFiles { unlink("\(stage.cache)/\(name)") }
                    #expect(try await stage.entries().count == 9)
                    #expect(try await stage.unreadable(expected).isEmpty)
                    #expect(try await stage.run("cache", "verify").status == 0)
                }
            }

            /// A process that is killed while it commits leaves rows in SQLite's log that no running process sees. The next one that reads the
            /// whole log would see them.
            @Test func `rows of a killed commit do not come back after their files were swept`() async throws {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<2))
                    let more = stage.urls(2..<6)
                    let list = try stage.list(more)
                    let trace = stage.folder + "/trace"
                    let whole = try stage.start(["prefetch", list], disk: ["DISK_TRACE": trace])
                    #expect(await whole.exit().status == 0)
                    let operations = try DiskOperation.read(trace)
                    // A commit ends with a sync of the log. The numbers are a few too low where an operation had no effect.
                    let syncs = operations.indices.filter { operations[$0].kind == .sync && operations[$0].isOfLog }
                    let numbers = isThorough ? Set(1...operations.count) : Set(syncs.flatMap { $0...$0 + 3 })
                    var (mostFiles, kills) = (0, 0)
                    for number in numbers.sorted() {
                        let removed = try await SleeveStage.run(
                            ["cache", "remove"] + more, environment: stage.environment)
                        #expect(
                            [0, 3].contains(removed.status) && CacheCheck.files(in: stage.cache).count == 2,
                            "\(removed)")
                        // It keeps the log's state in memory.
                        let reader = try stage.start(
                            ["get", "--offline", stage.urls(0..<1)[0], "-o", stage.folder + "/cover.jpg"],
                            disk: ["DISK_STOP": "3"])
                        try #require(await reader.stops())
                        let prefetch = try stage.start(["prefetch", list], disk: ["DISK_KILL": "\(number)"])
                        if await prefetch.exit().signal == SIGKILL {
                            (kills, mostFiles) = (kills + 1, max(mostFiles, CacheCheck.files(in: stage.cache).count))
                        }
                        #expect(try await stage.run("cache", "stats").status == 0)
                        // Going on, it would write.
                        reader.kill(SIGKILL)
                        _ = await reader.exit()
                        let verified = try await stage.run("cache", "verify")
                        #expect(verified.status == 0, "killed before operation \(number): \(verified)")
                    }
                    #expect(mostFiles > 2 && kills > 3, "\(kills) kills left at most \(mostFiles) files")
                }
            }

            @Test func `a use under a clock that is set back is the latest use`() async throws {
                try await withStage { stage in
                    let urls = stage.urls(0..<8, "size=20000")
                    try await stage.fill(urls, "--parallel", "1")
                    let used = try stage.start(
                        ["get", "--offline", urls[0], "-o", stage.folder + "/cover.jpg"], disk: Self.yearBack)
                    #expect(await used.exit().status == 0)
                    let charged = try await stage.stats().chargedBytes
                    #expect(try await stage.run("cache", "evict", "--to", "\(charged - 4 * 20_480)").status == 0)
                    #expect(try await stage.entries().map(\.url).contains(urls[0]))
                }
            }
        #endif
    }
}
