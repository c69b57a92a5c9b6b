import Foundation
import OriginServer
import SleeveStage
import Synchronization
import Testing
import Wire

extension CacheCommandTests {
    @Suite(.serialized) struct RefreshTests {
        @Test func `stale covers are revalidated, and the summary and the report count them`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3, "cache-control=max-age%3D0"))
                try await stage.fill(stage.urls(3..<5, "cache-control=max-age%3D1000"))
                let report = stage.folder + "/report.jsonl"
                let result = try await stage.run("refresh", "--json", "--report", report)
                #expect(result.status == 0, "\(result)")
                let summary: Summary = try result.json()
                #expect(summary.revalidated == 3 && summary.requested == 3 && summary.bytes == 0)
                let lines = try stage.text(of: report).split(separator: "\n")
                #expect(lines.count == 3 && lines.allSatisfy { $0.contains("\"outcome\":\"revalidated\"") })
                let quiet = try await stage.run("refresh", "--quiet")
                #expect(quiet.status == 0 && quiet.stdout.isEmpty && quiet.stderr.isEmpty, "\(quiet)")
                let again = try await stage.run("refresh", "--all", "--matching", "*/3.jpg*")
                #expect(again.stdout.hasPrefix("1 cover: 1 unchanged in "), "\(again)")
            }
        }

        @Test func `a refresh with nothing due says so and counts the covers`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<3, "cache-control=max-age%3D1000"))
                let result = try await stage.run("refresh")
                #expect(result.status == 0 && result.stderr.isEmpty)
                #expect(
                    result.stdout
                        == "Nothing to refresh. None of the 3 cached covers is due; --all also checks fresh covers.\n")
                let json = try await stage.run("refresh", "--json")
                #expect(try json.summary().requested == 0)
                #expect(try await stage.run("refresh", "--quiet").stdout.isEmpty)
                _ = try await stage.run("cache", "evict", "--to", "0")
                #expect(try await stage.run("refresh").stdout == "Nothing to refresh: the cache is empty.\n")
            }
        }

        @Test func `a cover of an unreachable server stays, and the command exits with 3`() async throws {
            try await withStage { stage in
                let urls = stage.urls(0..<2, "cache-control=max-age%3D0")
                try await stage.fill(urls)
                await stage.origin.stop()
                let result = try await stage.run("refresh", "--retries", "0")
                #expect(result.status == 3 && result.stderr.contains(urls[0]), "\(result)")
                let cover = try await stage.run("get", "--offline", urls[0], "-o", stage.folder + "/cover.jpg")
                #expect(cover.status == 0, "\(cover)")
            }
        }

        @Test func `a placeholder is told in one line, with the number of covers, and fails one refresh`() async throws
        {
            let isRemoved = Mutex(false)
            try await withScriptedServer({ request in
                let number = isRemoved.withLock { $0 } ? 99 : Int(request.target.filter(\.isNumber)) ?? 0
                return httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.png(number: number))
            }) { server in
                try await withStage { stage in
                    try await stage.fill((1...6).map { "\(server.url)/\($0).png" })
                    isRemoved.withLock { $0 = true }
                    let first = try await stage.run("refresh")
                    #expect(first.status == 3, "\(first)")
                    #expect(first.stderr.split(separator: "\n").count == 1, "\(first)")
                    #expect(first.stderr.contains("the same picture, a placeholder"), "\(first)")
                    let second = try await stage.run("refresh")
                    #expect(second.status == 0 && second.stderr.isEmpty, "\(second)")
                    #expect(try await stage.run("cache", "verify").status == 0)
                }
            }
        }

        @Test func `a cover that three refreshes did not get is named as gone, and is no failure from then on`()
            async throws
        {
            let isWalled = Mutex(false)
            try await withScriptedServer({ request in
                if isWalled.withLock({ $0 }), request.target == "/1.png" { return httpResponse("403 Forbidden") }
                let number = Int(request.target.filter(\.isNumber)) ?? 0
                return httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.png(number: number))
            }) { server in
                try await withStage { stage in
                    let urls = (1...4).map { "\(server.url)/\($0).png" }
                    try await stage.fill(urls)
                    isWalled.withLock { $0 = true }
                    let (report, metrics) = (stage.folder + "/report.jsonl", stage.folder + "/sleeve.prom")
                    var results: [RunResult] = []
                    for _ in 1...4 {
                        let options = ["--quiet", "--report", report, "--metrics-file", metrics]
                        results.append(try await run(["refresh", "--all"] + options, environment: stage.environment))
                    }
                    #expect(results.map(\.status) == [3, 3, 0, 0], "\(results)")
                    #expect(results[2].stderr.split(separator: "\n").count == 1, "\(results[2])")
                    let text = "\(urls[0]): the server answered 403; gone, as three checks got no cover"
                    #expect(results[2].stderr.contains(text), "\(results[2])")
                    #expect(results[3].stderr.isEmpty, "\(results[3])")
                    let lines = try stage.text(of: report).split(separator: "\n")
                    #expect(lines.count { $0.contains("\"gone\":true") && $0.contains(urls[0]) } == 1, "\(lines)")
                    let series = try stage.text(of: metrics)
                    #expect(series.contains("outcome=\"gone\"} 1") && series.contains("outcome=\"failed\"} 0"))
                    #expect(series.contains("sleeve_last_run_exit_code{") && !series.contains("seconds} 0.000"))
                    let list = try await stage.run("cache", "list", "--json")
                    #expect(list.stdout.components(separatedBy: "\"gone\":true").count == 2, "\(list)")
                    let why = try await stage.run("why", urls[0])
                    #expect(why.stdout.contains("its server answers 403 since "), "\(why)")
                    for (command, arguments) in [("why", ["why", urls[0]]), ("refresh", ["refresh"])] {
                        let result = try await run(arguments + ["--json"], environment: stage.environment)
                        let problems = try OutputArticle.problems(result, of: command)
                        #expect(problems.isEmpty, "\(problems)")
                    }
                    isWalled.withLock { $0 = false }
                    let back = try await stage.run("refresh")
                    #expect(back.stdout.hasPrefix("4 covers: 4 downloaded"), "\(back)")
                }
            }
        }

        @Test func `covers of a host that refuses all of them stay failures`() async throws {
            let isBanned = Mutex(false)
            try await withScriptedServer({ request in
                if isBanned.withLock({ $0 }) { return httpResponse("403 Forbidden") }
                let number = Int(request.target.filter(\.isNumber)) ?? 0
                return httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.png(number: number))
            }) { server in
                try await withStage { stage in
                    try await stage.fill((1...20).map { "\(server.url)/\($0).png" })
                    isBanned.withLock { $0 = true }
                    for _ in 1...4 {
                        let result = try await stage.run("refresh", "--json")
                        let summary: Summary = try result.json()
                        #expect(result.status == 3 && summary.failed == 20, "\(result)")
                    }
                    #expect(try await !stage.run("cache", "list", "--json").stdout.contains("gone"))
                }
            }
        }

        @Test func `a second refresh on a cache exits with 75 and names the first`() async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<1, "cache-control=max-age%3D0"))
                // This process holds the lock like a running refresh.
                let lock = open(stage.cache + "/refresh.lock", O_RDWR | O_CREAT, 0o644)
                defer { close(lock) }
                #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
                let text = Array("\(getpid())\n".utf8)
                #expect(pwrite(lock, text, text.count, 0) == text.count)
                let result = try await stage.run("refresh")
                #expect(result.status == 75 && result.stderr.contains("process \(getpid())"), "\(result)")
                flock(lock, LOCK_UN)
                #expect(try await stage.run("refresh").status == 0)
            }
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func `a signal ends a refresh in order, and the next one continues`(signal: Int32) async throws {
            try await withStage { stage in
                try await stage.fill(stage.urls(0..<8, "cache-control=max-age%3D0"))
                let requests = stage.origin.requestCount
                let child = try stage.start("refresh", "--json", "--rate", "1")
                try await eventually { stage.origin.requestCount != requests }
                child.kill(signal)
                let result = await child.exit()
                #expect(result.status == 128 + signal, "\(result)")
                let summary: Summary = try result.json()
                #expect(summary.cancelled == true && summary.settled == summary.requested)
                #expect(summary.failed == 0 && summary.requested + (summary.remaining ?? 0) == 8, "\(result)")
                #expect(!result.stderr.contains("failed"), "\(result)")
                #expect(try await stage.run("refresh").status == 0)
            }
        }

        @Test func `with log-format json every line on stderr is an object with time, level and message`() async throws
        {
            struct Line: Decodable { var time, level, message: String }
            try await withStage { stage in
                let urls = stage.urls(0..<3, "cache-control=max-age%3D0")
                try await stage.fill(urls)
                await stage.origin.stop()
                let result = try await stage.run("refresh", "--retries", "0", "--log-format", "json")
                let lines = try result.stderr.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                #expect(lines.count == 3 && lines.allSatisfy { $0.level == "warning" }, "\(result)")
                #expect(Set(urls).allSatisfy { url in lines.contains { $0.message.contains(url) } })
            }
        }

        @Test
        func `the first run writes every series of the metrics, and a failed run keeps the time of the last success`()
            async throws
        {
            try await withStage { stage in
                let metrics = stage.folder + "/sleeve.prom"
                try await stage.fill(stage.urls(0..<3, "cache-control=max-age%3D0"))
                let labels = "cache=\"\(stage.cache)\",command=\"refresh\""
                let first = try await stage.run("refresh", "--quiet", "--metrics-file", metrics)
                #expect(first.status == 0, "\(first)")
                let text = try stage.text(of: metrics)
                for line in [
                    "sleeve_last_run_covers{\(labels),outcome=\"revalidated\"} 3",
                    "sleeve_last_run_covers{\(labels),outcome=\"failed\"} 0",
                    "sleeve_last_run_failures{\(labels),class=\"connect\"} 0",
                    "sleeve_last_run_exit_code{\(labels)} 0", "sleeve_cache_entries{cache=\"\(stage.cache)\"} 3",
                ] { #expect(text.contains(line + "\n"), "\(line) in \(text)") }
                let success = text.split(separator: "\n").first { $0.hasPrefix("sleeve_last_success") }
                #expect(success?.hasSuffix(" 0.000") == false)

                await stage.origin.stop()
                let second = try await stage.run("refresh", "--quiet", "--retries", "0", "--metrics-file", metrics)
                #expect(second.status == 3, "\(second)")
                let failed = try stage.text(of: metrics)
                #expect(
                    failed.contains("class=\"connect\"} 3\n") && failed.contains("exit_code{\(labels)} 3\n"))
                #expect(failed.split(separator: "\n").first { $0.hasPrefix("sleeve_last_success") } == success)
                let names = { (text: String) in text.split(separator: "\n").map { $0.split(separator: " ")[0] } }
                #expect(names(failed) == names(text))

                // A cache that cannot be opened: the exit code and the metrics report the failure.
                let index = stage.cache + "/index.sqlite3"
                try FileManager.default.removeItem(atPath: index)
                try FileManager.default.createDirectory(atPath: index, withIntermediateDirectories: false)
                let broken = try await stage.run("refresh", "--quiet", "--metrics-file", metrics)
                #expect(broken.status == 1 && !broken.stderr.isEmpty, "\(broken)")
                let none = try stage.text(of: metrics)
                #expect(names(none) == names(text) && none.contains("exit_code{\(labels)} 1\n"))
                #expect(none.split(separator: "\n").first { $0.hasPrefix("sleeve_last_success") } == success)
                // The metrics of the cache stay.
                #expect(none.contains("sleeve_cache_entries{cache=\"\(stage.cache)\"} 3\n"))
            }
        }

        @Test func `a refresh without a cache succeeds, says so, and creates nothing`() async throws {
            try await withStage { stage in
                let metrics = stage.folder + "/sleeve.prom"
                let result = try await stage.run("refresh", "--metrics-file", metrics)
                #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
                #expect(result.stdout.hasPrefix("Nothing to refresh: there is no cache at \(stage.cache)."))
                #expect(try await stage.run("refresh", "--json").summary().requested == 0)
                #expect(try await stage.run("refresh", "--quiet").stdout.isEmpty)
                #expect(!FileManager.default.fileExists(atPath: stage.cache))
                #expect(try stage.text(of: metrics).contains("sleeve_cache_entries{cache=\"\(stage.cache)\"} 0\n"))
            }
        }
    }
}
