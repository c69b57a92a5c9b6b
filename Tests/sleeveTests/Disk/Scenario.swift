#if os(Linux)
    import Foundation
    import OriginServer
    import Platform
    import SQLite
    import Testing

    @testable import CoverCache

    /// A command that is run many times on copies of one cache, each time with something going wrong.
    struct Scenario {
        enum Kind: String, CaseIterable, Sendable {
            case firstPrefetch, prefetch, refresh, evict, get
            /// Two covers are damaged, and a record without a body.
            case repair
            /// The index's counts are wrong.
            case repairOfIndex
            /// There is no index.
            case rebuild
        }

        let kind: Kind
        let stage: Stage
        private let arguments: [String]
        /// A prefetch of other covers.
        private let other: [String]
        /// What the cache has before.
        private var before: [String: Set<String>] = [:]
        /// What it may have afterwards.
        private var allowed: [String: Set<String>] = [:]
        private var damaged: Set<String> = []

        private var base: String { stage.folder + "/base" }
        private var report: String { stage.folder + "/report" }
        private var otherReport: String { stage.folder + "/other-report" }
        private var trace: String { stage.folder + "/trace" }

        /// One run of the command.
        struct Attempt {
            var result: RunResult
            /// The call that was made to fail, if one was.
            var failed: DiskOperation?
            /// What was wrong with the cache after it.
            var faults: [String]
        }

        private init(_ kind: Kind, _ stage: Stage, _ arguments: [String], other: [String]) async throws {
            (self.kind, self.stage, self.arguments, self.other) = (kind, stage, arguments, other)
            if FileManager.default.fileExists(atPath: stage.cache) {
                try FileManager.default.moveItem(atPath: stage.cache, toPath: base)
                if kind == .repair {
                    let writer = try CacheWriter(directory: base)
                    // The URL whose record has no body can be lost with the index, until the record is written again.
                    damaged = Set(try writer.verify().defects.compactMap(\.key))
                    #expect(damaged.count == 3)
                    try writer.close()
                }
                for (url, digest) in try CacheCheck.digests(in: base) {
                    if let digest, !damaged.contains(url) { before[url] = [digest] }
                }
            }
            allowed = before
            // A run in which nothing goes wrong tells what is to come.
            try restore()
            for arguments in [arguments, other] {
                let result = try await run(arguments, [:])
                try #require(result.status == 0, "\(result)")
            }
            for (url, digest) in try CacheCheck.digests(in: stage.cache) {
                if let digest { allowed[url, default: []].insert(digest) }
            }
        }

        /// Runs `body` with a cache, and an origin, that are ready for the command.
        static func with(_ kind: Kind, _ body: (Scenario) async throws -> Void) async throws {
            try await withStage { stage in
                var options = OriginOptions()
                options.cacheControl = "max-age=0"
                options.size = 4_000
                let origin = try await Origin.start(options)
                let urls = (0..<10).map { origin.coverURL($0) } + (20..<24).map { "\(origin.coverURL($0))?same=2" }
                // One after the other: what `damage` hits follows from their order.
                if kind != .firstPrefetch { try await stage.fill(urls, "--fixed", "--parallel", "1") }
                if kind == .repair { try damage(in: stage) }
                if kind == .repairOfIndex {
                    try Connection(stage.cache + "/index.sqlite3").execute("UPDATE state SET live = live + 4096")
                }
                await origin.stop()
                // From now on the URLs have other covers.
                options.port = origin.port
                options.size = 5_000
                let changed = try await Origin.start(options)
                let others = try stage.list(
                    urls.map { $0.replacing("/covers/", with: "/covers/1") } + [urls[0] + "?other"])
                let report = stage.folder + "/report"
                let arguments =
                    switch kind {
                    case .firstPrefetch, .prefetch: ["prefetch", others, "--report", report, "--retries", "0"]
                    case .refresh: ["refresh", "--report", report, "--retries", "0"]
                    case .evict: ["evict", "--to", "24K"]
                    case .repair, .repairOfIndex, .rebuild: ["verify", "--repair"]
                    case .get: ["get", "--offline", urls[3], "-o", stage.folder + "/cover.jpg"]
                    }
                let third = try stage.list((40..<46).map { changed.coverURL($0) }, name: "other.txt")
                let other = ["prefetch", third, "--report", stage.folder + "/other-report", "--retries", "0"]
                try await body(Scenario(kind, stage, arguments, other: other))
                await changed.stop()
            }
        }

        /// Damages two covers of two blocks each, and the last record, which has no body.
        private static func damage(in stage: Stage) throws {
            let file = try FileHandle(forUpdating: URL(filePath: try #require(try stage.segments().first)))
            defer { try? file.close() }
            let end = try file.seekToEnd()
            let offsets: [UInt64] = [2_000, 8_192 + 2_000, end - 4_096 + 80]
            for offset in offsets {
                try file.seek(toOffset: offset)
                let byte = try #require(try file.read(upToCount: 1)?.first)
                try file.seek(toOffset: offset)
                try file.write(contentsOf: [byte ^ 1])
            }
        }

        private func restore() throws {
            for path in [stage.cache, report, otherReport, trace] where FileManager.default.fileExists(atPath: path) {
                try FileManager.default.removeItem(atPath: path)
            }
            guard FileManager.default.fileExists(atPath: base) else { return }
            try FileManager.default.copyItem(atPath: base, toPath: stage.cache)
            if kind == .rebuild {
                for suffix in ["", "-wal", "-shm"] { unlink("\(stage.cache)/index.sqlite3\(suffix)") }
            }
        }

        private func run(_ arguments: [String], _ variables: [String: String]) async throws -> RunResult {
            await (try stage.start(arguments, disk: variables)).exit()
        }

        /// Runs the command on a new copy of the cache, and checks what it leaves.
        func attempt(_ variables: [String: String]) async throws -> Attempt {
            try restore()
            let result = try await run(arguments, variables.merging(["DISK_TRACE": trace]) { $1 })
            let operations = try DiskOperation.read(trace)
            return Attempt(
                result: result, failed: operations.first { $0.kind == .failed }, faults: try faults())
        }

        /// Runs the command on a new copy of the cache, and stops it after an operation. Meanwhile another process downloads
        /// covers, and is killed before an operation, unless the command holds the lock that it needs. Then the command goes on.
        /// - Returns: nil if the command ends before it is stopped.
        func attempt(stoppedAfter number: Int, otherKilledBefore otherNumber: Int) async throws -> Attempt? {
            try restore()
            let child = try stage.start(arguments, disk: ["DISK_STOP": "\(number)"])
            guard await child.stops() else {
                _ = await child.exit()
                return nil
            }
            let lock = try? FileLock(path: stage.cache + "/writer.lock")
            if try lock?.tryLock() ?? true {
                lock?.unlock()
                _ = try await run(other, ["DISK_KILL": "\(otherNumber)"])
            }
            child.kill(SIGCONT)
            let result = await child.exit()
            let defects = try CacheWriter.open(stage.cache).verify().defects.map { "verify: \($0)" }
            return try Attempt(result: result, faults: faults() + defects)
        }

        /// What is wrong with the cache, compared with what was there and with what the reports have acknowledged.
        private func faults() throws -> [String] {
            var required = kind == .evict ? [:] : before
            // What the other process has stored may be evicted.
            let paths = kind == .evict ? [] : [report, otherReport]
            let reports = paths.map { (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "" }
            for line: ReportLine in try jsonLines(reports.joined()) {
                if let digest = line.digest { required[line.url] = [digest] }
            }
            // What replaces a cover may be there without having been acknowledged.
            for (url, digests) in required where kind == .refresh && before[url] == digests {
                required[url] = allowed[url] ?? digests
            }
            return CacheCheck(required: required, allowed: allowed, damaged: damaged).faults(in: stage.cache)
        }

        /// Runs the command again on what the last attempt left.
        func again() async throws -> RunResult { try await stage.start(arguments, disk: [:]).exit() }

        /// Bytes that the segments take on the disk.
        func allocatedBytes() throws -> Int {
            try stage.segments().reduce(0) { sum, path in
                var status = stat()
                return stat(path, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
            }
        }
    }
#endif
