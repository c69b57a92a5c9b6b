import Foundation
import Testing

extension CommandTests {
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
                let capacity = 8 << 20
                for part in 0..<4 {
                    let list = try stage.list(stage.urls(part * 1_000..<part * 1_000 + 1_000, "size=700"))
                    _ = try await stage.run("prefetch", list, "--capacity", "\(capacity)", "--quiet")
                    #expect(stage.coverBytes() <= capacity, "after part \(part)")
                    #expect(try stage.diskBytes() <= capacity + Self.overhead, "after part \(part)")
                }
                #expect(try await stage.entries().count > 300)
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test
        func `a list whose reader has stopped neither stops a prefetch nor lets the log grow beyond the capacity`()
            async throws
        {
            try await withStage { stage in
                let capacity = 16 << 20
                try await stage.fill(stage.urls(0..<1_200, "size=400"), "--capacity", "\(capacity)")
                let more = try stage.list(stage.urls(1_200..<1_300), name: "more.txt")
                let result = try await stage.shell(
                    """
                    cd "$2" && mkfifo p && { sleep 600 <p & reader=$!; } && { "$SLEEVE" cache list --json >p & list=$!; }
                    timeout 30 "$SLEEVE" prefetch "$1" --quiet; echo prefetch=$?
                    for round in 1 2 3 4 5 6 7 8; do timeout 30 "$SLEEVE" refresh --all --quiet || echo refresh=$?; done
                    kill -0 $list && echo stands
                    du -sk "$SLEEVE_CACHE" | cut -f1
                    kill $list $reader 2>/dev/null; wait 2>/dev/null
                    "$SLEEVE" cache list --json | head -1 | grep -c digest
                    """, more, stage.folder)
                let lines = result.stdout.split(separator: "\n")
                #expect(
                    lines.count == 4 && lines[0] == "prefetch=0" && lines[1] == "stands" && lines.last == "1",
                    "\(result)")
                #expect(lines.count == 4 && Int(lines[2]).map { $0 << 10 <= capacity } == true, "\(result)")
                #expect(try await stage.entries().count == 1_300)
            }
        }

        @Test func `two prefetches of more than fits stay within the capacity at each moment`() async throws {
            try await withStage { stage in
                let lists = try (0..<2).map { number in
                    try stage.list(
                        stage.urls(number * 1_000..<number * 1_000 + 900, "size=30000"), name: "list\(number).txt")
                }
                let result = try await stage.shell(
                    """
                    "$SLEEVE" prefetch "$1" --capacity 16M --quiet 2>"$3/1" & first=$!
                    "$SLEEVE" prefetch "$2" --capacity 16M --quiet 2>"$3/2" & second=$!
                    most=0
                    while kill -0 $first 2>/dev/null || kill -0 $second 2>/dev/null; do
                        now=$(find "$SLEEVE_CACHE/covers" -type f -printf '%b\\n' 2>/dev/null | awk '{s += $1} END {print s * 512}')
                        [ "$now" -le $most ] || most=$now
                    done
                    wait; echo $most; grep -l -e --capacity "$3/1" "$3/2" | wc -l
                    """, lists[0], lists[1], stage.folder)
                let lines = result.stdout.split(separator: "\n").compactMap { Int($0) }
                #expect(lines.count == 2 && lines[0] <= 16 << 20 && lines[1] > 0, "\(result)")
                #expect(stage.coverBytes() > 14 << 20)
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

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
