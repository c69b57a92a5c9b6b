import Foundation
import OriginServer
import Platform
import SleeveStage
import Testing
import Wire

extension CommandTests {
    /// Several processes on one cache, and stopped processes.
    @Suite struct ProcessTests {

        @Test func `readers and an eviction work while another process prefetches`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(1_000..<1_050, "size=1000"))
                let tripwire = try Tripwire()
                let list = try stage.list(stage.urls(0..<50, "size=1000") + [tripwire.url(through: stage.origin)])
                let writer = try stage.start("prefetch", list, "--json")
                try await tripwire.wait(for: writer)
                #expect(try await stage.run("get", "--offline", stage.urls(1_000..<1_001, "size=1000")[0]).status == 0)
                #expect(try await stage.entries().count >= 50)
                #expect(try await stage.run("cache", "verify").status == 0)
                #expect(try await stage.run("cache", "evict", "--to", "40K").status == 0)
                writer.kill(SIGINT)
                let result = await writer.exit()
                #expect(result.status == 130, "\(result)")
                #expect(try await stage.run("cache", "verify").status == 0)
            }
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func `a signal stops a prefetch at once; arrived covers are stored, and the next run downloads the others`(
            signal: Int32
        ) async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let urls = stage.urls(0..<300, "size=1000")
                // All eight connections to the host end up waiting, so the run cannot end by itself.
                let hanging = [tripwire.url(through: stage.origin)] + stage.urls(500..<508, "fault=never")
                let (report, metrics) = (stage.folder + "/report.jsonl", stage.folder + "/sleeve.prom")
                let list = try stage.list(Array(urls[..<200] + hanging + urls[200...]))
                let child = try stage.start(
                    "prefetch", list, "--json", "--report", report, "--metrics-file", metrics, "--fixed", "--per-host",
                    "8")
                try await tripwire.wait(for: child)
                let clock = ContinuousClock()
                let begin = clock.now
                child.kill(signal)
                let result = await child.exit()
                let time = begin.duration(to: clock.now)
                #expect(result.status == 128 + signal && result.signal == nil, "\(result)")
                #expect(time < .seconds(30), "its transfers would wait for a minute")

                let summary = try result.summary()
                #expect(summary.cancelled == true)
                #expect(summary.downloaded > 100 && summary.downloaded <= 200)
                let stored = Set(try await stage.entries().map(\.url))
                #expect(stored.count == summary.downloaded)
                let lines: [ReportLine] = try jsonLines(try stage.text(of: report))
                #expect(Set(lines.filter { $0.outcome == "downloaded" }.map(\.url)) == stored)
                #expect(lines.count == summary.settled && !lines.contains { $0.outcome == "failed" })
                #expect(summary.failed == 0 && summary.remaining == 309 - summary.downloaded, "\(result)")
                #expect(try stage.text(of: metrics).contains("class=\"cancelled\"} 0"))
                #expect(try await stage.run("cache", "verify").status == 0)

                let before = stage.origin.requestCount
                let again = try await stage.run("prefetch", try stage.list(urls), "--json")
                #expect(again.status == 0)
                #expect(try again.summary().fresh == summary.downloaded)
                #expect(stage.origin.requestCount - before == 300 - summary.downloaded)
            }
        }

        @Test func `a signal before the first arrival ends the run`() async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let child = try stage.start("prefetch", "-", "--json", stdin: .open)
                child.send(tripwire.url + "\n")
                try await tripwire.wait(for: child)
                // The list is still open; reading it must not block the exit.
                child.kill(SIGTERM)
                let result = await child.exit()
                #expect(result.status == 143, "\(result)")
                #expect(try result.summary().downloaded == 0)
            }
        }

        @Test(arguments: [SIGHUP, SIGINT, SIGTERM])
        func `a signal that was ignored at the start stays ignored`(signal: Int32) async throws {
            try await withStage { stage in
                let tripwire = try Tripwire()
                let list = try stage.list([tripwire.url(through: stage.origin)])
                let child = try Child(
                    "/bin/sh", ["-c", "trap '' \(signal); exec \"$SLEEVE\" prefetch \"$1\" --json", "sh", list],
                    environment: stage.environment)
                try await tripwire.wait(for: child)
                child.kill(signal)
                // This one is handled. The first signal stops the run in order, so a summary means that it was the first.
                let other = signal == SIGTERM ? SIGINT : SIGTERM
                child.kill(other)
                let result = await child.exit()
                #expect(result.status == 128 + other, "\(result)")
                #expect(try result.summary().cancelled == true)
            }
        }

        @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "needs Python's pty module"))
        func `a server under nohup survives its terminal`() async throws {
            try await withStage { stage in
                let result = try await stage.shell(
                    """
                    exec python3 - "$1" <<'END'
                    import os, pty, signal, sys, urllib.request
                    fifo = sys.argv[1]
                    os.mkfifo(fifo)
                    shell, terminal = pty.fork()
                    if shell == 0:
                        os.execvp("sh", ["sh", "-c",
                            'sh -c \\'echo $$ >"$0.pid"; exec nohup "$SLEEVE" serve --no-token --port 0 --quiet\\' "$0" >"$0" 2>&1 & wait',
                            fifo])
                    output = open(fifo)
                    url = output.readline().strip()
                    os.close(terminal)
                    # The hang-up ends the shell, which does not ignore SIGHUP.
                    assert os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]) == -signal.SIGHUP
                    print(urllib.request.urlopen(url).status)
                    os.kill(int(open(fifo + ".pid").read()), signal.SIGTERM)
                    print(output.read())
                    END
                    """, stage.folder + "/output")
                #expect(result.status == 0 && result.stdout == "200\n\n", "\(result)")
            }
        }

        @Test(.enabled(if: mayMount, "needs a user namespace"))
        func `the first process of a container ends with SIGTERM, whatever it waits for`() async throws {
            try await withStage { stage in
                // The kernel discards a signal that this process has no handler for, as long as it is the shell.
                let result = try await stage.shell(
                    """
                    exec unshare -Urpf sh -c 'while kill -TERM 1; do sleep 0.05; done & exec "$SLEEVE" refresh --jitter 1h'
                    """)
                #expect(result.status == 143, "\(result)")
            }
        }

        @Test(
            .enabled(if: mayMount, "needs a user namespace"),
            arguments: [["--version"], ["cache", "stats"], ["prefetch", "-"], ["serve"]])
        func `without /proc a command says so and fails`(arguments: [String]) async throws {
            try await withStage { stage in
                let script = "mount -t tmpfs tmpfs /proc && exec \"$SLEEVE\" \(arguments.joined(separator: " "))"
                let result = try await stage.shell("exec unshare -Urm sh -c \"$1\"", script)
                #expect(result.status == 1 && result.stdout.isEmpty, "\(result)")
                #expect(result.stderr == "sleeve: /proc cannot be read; mount it\n", "\(result)")
            }
        }

        @Test func `the origin stops in order on a signal`() async throws {
            try await withStage { stage in
                let child = try stage.start("origin", "--port", "0")
                _ = try #require(await child.firstOutputLine())
                child.kill(SIGINT)
                let result = await child.exit()
                #expect(result.status == 130 && result.signal == nil, "\(result)")
            }
        }
    }

    @Suite struct KillTests {
        private static let length = 400

        /// Ten kills for each cache, so that a run adopts the records of several killed ones.
        @Test(arguments: 0..<(isThorough ? 5 : 1))
        func `after kill -9 every acknowledged cover is stored and intact`(cache: Int) async throws {
            try await withStage { stage in
                var acknowledged: [String: String] = [:]
                var awaited = 0
                var random = SplitMix64(seed: UInt64(cache))
                for round in 0..<10 {
                    let moment = Int.random(in: 1..<Self.length, using: &random)
                    // Every other round is killed at a random moment, the others after this many acknowledgements.
                    let minimum = round.isMultiple(of: 2) ? 0 : Int.random(in: 1...150, using: &random)
                    let place = "seed \(cache), round \(round), moment \(moment)"
                    awaited += minimum
                    try await killed(stage, round, moment, minimum, &acknowledged)
                    let entries = Dictionary(grouping: try await stage.entries(), by: \.url)
                    #expect(entries.values.allSatisfy { $0.count == 1 }, "\(place)")
                    let lost = acknowledged.filter { entries[$0.key]?.first?.digest != $0.value }
                    #expect(lost.isEmpty, "\(place): \(lost.keys.sorted().prefix(5))")
                    let verified = try await stage.run("cache", "verify")
                    #expect(verified.status == 0, "\(place): \(verified)")
                }
                #expect(acknowledged.count >= awaited)
            }
        }

        /// Prefetches covers, some of them for the second time, and kills the process when it has reached number `moment`
        /// and has acknowledged at least `minimum` covers.
        private func killed(
            _ stage: Stage, _ round: Int, _ moment: Int, _ minimum: Int, _ acknowledged: inout [String: String]
        ) async throws {
            let first = round * 300
            // Long URLs make long report lines, so the report is written often.
            let query = "size=4000&for=" + String(repeating: "x", count: 400)
            var urls = stage.urls(first..<first + Self.length, query)
            let tripwire = try Tripwire()
            urls.insert(tripwire.url(through: stage.origin), at: moment)
            let report = "\(stage.folder)/report-\(round).jsonl"
            let child = try stage.start("prefetch", try stage.list(urls), "--report", report, "--quiet")
            try await tripwire.wait(for: child)
            try await eventually { try Self.downloaded(stage, report).count >= minimum }
            child.kill(SIGKILL)
            let result = await child.exit()
            #expect(result.signal == SIGKILL, "\(result)")
            for line in try Self.downloaded(stage, report) { acknowledged[line.url] = line.digest }
        }

        /// The downloaded covers in the complete lines of a report.
        private static func downloaded(_ stage: Stage, _ report: String) throws -> [ReportLine] {
            try jsonLines(try stage.text(of: report)).filter { $0.outcome == "downloaded" }
        }
    }
}
