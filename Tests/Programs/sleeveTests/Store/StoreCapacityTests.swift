import Foundation
import SleeveStage
import Testing

extension CacheCommandTests {
    /// Capacity is a limit of the disk space that the covers take with what the index, its log and the log of entries have beyond a MiB
    /// each.
    @Suite struct StoreCapacityTests {
        /// These, and the reserve, in bytes.
        private static let overhead = 3 << 20 + 512 << 10

        @Test func `a pinned cover of any size counts what it takes`() async throws {
            try await withStage { stage in
                let capacity = 2 << 20
                let limit = capacity + Self.overhead
                let large = stage.urls(0..<1, "size=1200000")
                try await stage.fill(large, "--capacity", "\(capacity)")
                #expect(try await stage.run("cache", "pin", large[0]).status == 0)
                let list = try stage.list(stage.urls(1..<60, "size=30000"))
                let result = try await stage.run("prefetch", list, "--quiet")
                #expect([0, 3].contains(result.status), "\(result)")
                #expect(stage.coverBytes() <= capacity)
                #expect(try stage.diskBytes() <= limit)
                let entries = try await stage.entries()
                #expect(entries.contains { $0.url == large[0] && $0.pinned } && entries.count > 5)
                let none = try stage.list(stage.urls(60..<61, "size=1200000"))
                let refused = try await stage.run("prefetch", none, "--quiet")
                #expect(refused.status == 3 && refused.stderr.contains("pinned"), "\(refused)")
                #expect(stage.coverBytes() <= capacity)
                #expect(try stage.diskBytes() <= limit)
            }
        }

        @Test func `what does not fit beside the covers of a run is left, and not failed`() async throws {
            try await withStage { stage in
                let list = try stage.list(stage.urls(0..<40, "size=60000"))
                let report = stage.folder + "/report"
                let result = try await stage.run("prefetch", list, "--capacity", "1M", "--json", "--report", report)
                #expect(result.status == 3 && result.stderr.contains("(--capacity)"), "\(result)")
                let summary = try result.summary()
                #expect(summary.failed == 0 && summary.requested == summary.downloaded, "\(result)")
                #expect((summary.remaining ?? 0) + summary.requested <= 40 && summary.downloaded > 5, "\(result)")
                #expect(summary.remaining ?? 0 > 10, "\(result)")
                let lines: [ReportLine] = try jsonLines(String(contentsOfFile: report, encoding: .utf8))
                #expect(lines.count == summary.requested && lines.allSatisfy { $0.digest != nil })
            }
        }

        @Test func `small covers take no more than the capacity, with the index and its log`() async throws {
            try await withStage { stage in
                let capacity = 4 << 20
                for part in 0..<3 {
                    let list = try stage.list(stage.urls(part * 600..<part * 600 + 600, "size=700"))
                    _ = try await stage.run("prefetch", list, "--capacity", "\(capacity)", "--quiet")
                    #expect(stage.coverBytes() <= capacity, "after part \(part)")
                    #expect(try stage.diskBytes() <= capacity + Self.overhead, "after part \(part)")
                }
                #expect(try await stage.entries().count > 150)
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test
        func `a list whose reader has stopped neither stops a prefetch nor lets the index's log grow`()
            async throws
        {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<270, "size=400"), "--capacity", "4M")
                let more = try stage.list(stage.urls(270..<300), name: "more.txt")
                // The pipe, which this shell holds open and does not read, takes less than the list.
                let result = try await stage.shell(
                    """
                    cd "$2" && mkfifo p && exec 3<>p && { "$SLEEVE" cache list --json >p 3<&- & list=$!; }
                    timeout 30 "$SLEEVE" prefetch "$1" --quiet; echo prefetch=$?
                    for round in 1 2 3 4; do timeout 30 "$SLEEVE" refresh --all --quiet || echo refresh=$?; done
                    kill -0 $list && echo stands
                    du -k "$SLEEVE_CACHE/index.sqlite3-wal" | cut -f1
                    kill $list; wait 2>/dev/null
                    "$SLEEVE" cache list --json | head -1 | grep -c digest
                    """, more, stage.folder)
                let lines = result.stdout.split(separator: "\n")
                #expect(
                    lines.count == 4 && lines[0] == "prefetch=0" && lines[1] == "stands" && lines.last == "1",
                    "\(result)")
                // Each of the runs writes 100 KiB, which only a reader in the midst of its transaction would keep in the log.
                #expect(lines.count == 4 && Int(lines[2]).map { $0 < 64 } == true, "\(result)")
                #expect(try await stage.entries().count == 300)
            }
        }

        #if os(Linux)
            @Test func `two prefetches of more than fits stay within the capacity at each moment`() async throws {
                try await withStage { stage in
                    let trace = stage.folder + "/trace"
                    let children = try (0..<2).map { number in
                        let urls = stage.urls(number * 1_000..<number * 1_000 + 225, "size=30000")
                        return try stage.start(
                            [
                                "prefetch", try stage.list(urls, name: "list\(number).txt"), "--capacity", "4M",
                                "--quiet",
                            ], disk: ["DISK_TRACE": trace])
                    }
                    var messages = ""
                    for child in children { messages += await child.exit().stderr }
                    #expect(messages.contains("(--capacity)"), "\(messages)")
                    #expect(mostCoverBytes(try DiskOperation.read(trace)) <= 4 << 20)
                    #expect(stage.coverBytes() > 3 << 20)
                    #expect(try await stage.run("cache", "verify").status == 0)
                }
            }

            /// The most disk space that files of covers took at a moment of a trace, in bytes.
            private func mostCoverBytes(_ operations: [DiskOperation]) -> Int {
                var (files, blocks, most): ([String: UInt64], [UInt64: Int], Int) = ([:], [:], 0)
                for operation in operations where operation.isOfCover {
                    switch operation.kind {
                    case .create: (files[operation.path], blocks[operation.inode]) = (operation.inode, 0)
                    case .write, .allocate:
                        let end = (operation.offset + operation.length + 4_095) / 4_096
                        blocks[operation.inode] = max(blocks[operation.inode] ?? 0, end)
                    case .truncate: blocks[operation.inode] = (operation.length + 4_095) / 4_096
                    case .rename: files[operation.newPath] = files.removeValue(forKey: operation.path)
                    case .link: files[operation.newPath] = files[operation.path]
                    case .unlink: files[operation.path] = nil
                    default: continue
                    }
                    most = max(most, Set(files.values).reduce(0) { $0 + (blocks[$1] ?? 0) })
                }
                return most * 4_096
            }
        #endif

        #if os(Linux)
            /// A process was killed that had freed the reserve, while another one keeps the files that SQLite shares.
            private static let losingReserve = """
                mkfifo "$1/pipe"; sleep 600 <"$1/pipe" & others=$!
                "$SLEEVE" cache list --json >"$1/pipe" & others="$others $!"
                until [ -s "$SLEEVE_CACHE/index.sqlite3-shm" ]; do sleep 0.1; done
                truncate -s 0 "$SLEEVE_CACHE/reserve"
                """

            /// The rows of small covers need more room in the index's log than the covers give back.
            @Test(.enabled(if: mayMount, "needs a user namespace"), arguments: [true, false])
            func `small covers are evicted from a full disk, with the reserve and without it`(hasReserve: Bool)
                async throws
            {
                try await withStage { stage in
                    let list = try stage.list(stage.urls(0..<2_500, "size=700"))
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        mkdir "$1" && mount -t tmpfs -o size=24m tmpfs "$1" && export SLEEVE_CACHE="$1/cache" || exit 99
                        "$SLEEVE" prefetch "$2" --quiet; echo prefetch=$?
                        "$SLEEVE" cache stats >/dev/null
                        eval "$3"
                        cat /dev/zero >"$1/ballast" 2>/dev/null
                        "$SLEEVE" cache evict --to 1M --quiet; echo evict=$?
                        "$SLEEVE" cache verify --quiet; echo verify=$?
                        "$SLEEVE" cache list | grep -c http
                        kill $others 2>/dev/null
                        ' sh "$@"
                        """, stage.folder + "/disk", list, hasReserve ? "" : Self.losingReserve)
                    let lines = result.stdout.split(separator: "\n")
                    #expect(lines.dropLast() == ["prefetch=0", "evict=0", "verify=0"], "\(result)")
                    #expect(lines.last.flatMap { Int($0) }.map { (1...256).contains($0) } == true, "\(result)")
                }
            }

            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `a disk without inodes is named so, and gets some from covers that a run does not need`() async throws
            {
                try await withStage { stage in
                    let many = try stage.list(stage.urls(0..<600, "size=700"), name: "many.txt")
                    let more = try stage.list(stage.urls(600..<650, "size=700"), name: "more.txt")
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        mkdir "$1" && mount -t tmpfs -o size=60m,nr_inodes=400 tmpfs "$1" && export SLEEVE_CACHE="$1/cache" || exit 99
                        "$SLEEVE" prefetch "$2" --quiet; echo many=$?
                        "$SLEEVE" prefetch "$3" --quiet; echo more=$?
                        "$SLEEVE" cache verify --quiet; echo verify=$?
                        ' sh "$@"
                        """, stage.folder + "/disk", many, more)
                    #expect(
                        result.stdout == "many=3\nmore=0\nverify=0\n" && result.stderr.contains("inodes"), "\(result)")
                }
            }

            /// Not a byte is left: to delete rows, the store needs a reserve.
            @Test(.enabled(if: mayMount, "needs a user namespace"))
            func `on a full disk covers can be removed and evicted, and then stored`() async throws {
                try await withStage { stage in
                    let many = try stage.list(stage.urls(0..<900, "size=8000"), name: "many.txt")
                    let few = try stage.list(stage.urls(2_000..<2_010), name: "few.txt")
                    let result = try await stage.shell(
                        """
                        exec unshare -Urm sh -c '
                        mkdir "$1" && mount -t tmpfs -o size=16m tmpfs "$1" && export SLEEVE_CACHE="$1/cache" || exit 99
                        "$SLEEVE" prefetch "$2" --quiet; echo many=$?
                        cat /dev/zero >"$1/ballast" 2>/dev/null
                        "$SLEEVE" get --offline "$4" >/dev/null; echo get=$?
                        "$SLEEVE" cache remove "$4" --quiet; echo remove=$?
                        cat /dev/zero >>"$1/ballast" 2>/dev/null
                        "$SLEEVE" cache evict --to 4M --quiet; echo evict=$?
                        cat /dev/zero >>"$1/ballast" 2>/dev/null
                        "$SLEEVE" cache evict --to 0 --quiet; echo evict=$?
                        "$SLEEVE" cache list | grep -c http
                        "$SLEEVE" prefetch "$3" --quiet; echo few=$?
                        "$SLEEVE" cache verify --quiet; echo verify=$?
                        ' sh "$@"
                        """, stage.folder + "/disk", many, few, stage.urls(0..<1, "size=8000")[0])
                    #expect(
                        result.stdout == "many=0\nget=0\nremove=0\nevict=0\nevict=0\n0\nfew=0\nverify=0\n", "\(result)")
                }
            }
        #endif
    }
}
