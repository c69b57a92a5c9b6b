#if os(Linux)
    import Foundation
    import OriginServer
    import Platform
    import SleeveStage
    import Testing

    /// A command that is run many times on copies of one cache, each time with something going wrong.
    struct Scenario {
        enum Kind: String, CaseIterable, Sendable {
            case firstPrefetch, prefetch, refresh, evict, remove, get
            /// A prefetch of bytes that are cached under other URLs, which the other process removes.
            case duplicates
            /// Two covers have a wrong byte, and one is cut off.
            case repair
            /// There is no index.
            case rebuild
            /// A prefetch was killed before, and has left files that no row names.
            case sweep

            /// Whether acknowledged covers may be gone afterwards.
            var evicts: Bool { self == .evict }
        }

        let kind: Kind
        let stage: Stage
        private let commands: Commands
        /// What the cache must have afterwards.
        private var before: [String: Set<String>] = [:]
        /// What it may have afterwards.
        private var allowed: [String: Set<String>] = [:]
        private var damaged: Set<String> = []
        /// The number of operations of the command in which nothing goes wrong.
        private var length = 0

        private struct Commands {
            var tested: [String]
            /// What another process does while the tested command is stopped.
            var other: [String]
            /// The URLs that the commands may take out of the cache, but for evictions.
            var removed: Set<String> = []
        }

        private var base: String { stage.folder + "/base" }
        private var report: String { stage.folder + "/report" }
        private var otherReport: String { stage.folder + "/other-report" }
        private var trace: String { stage.folder + "/trace" }

        /// One run of the command.
        struct Attempt {
            var result: RunResult
            /// The call that was made to fail, if one was.
            var failed: DiskOperation?
            /// Whether the other process ran meanwhile.
            var hasOther = false
            /// What was wrong with the cache after it.
            var faults: [String]
        }

        private init(_ kind: Kind, _ stage: Stage, _ commands: Commands) async throws {
            (self.kind, self.stage, self.commands) = (kind, stage, commands)
            if FileManager.default.fileExists(atPath: stage.cache) {
                try FileManager.default.moveItem(atPath: stage.cache, toPath: base)
                // Listing a copy: whoever opens the cache sweeps it.
                try FileManager.default.copyItem(atPath: base, toPath: stage.cache)
                let listed = try await Self.digests(in: stage.cache, stage)
                if kind == .repair { damaged = try Self.damage(listed, in: base) }
                before = listed.filter { !damaged.contains($0.key) }.mapValues { [$0] }
            }
            allowed = before
            before = before.filter { !commands.removed.contains($0.key) }
            // A run in which nothing goes wrong tells what is to come.
            for arguments in [commands.other, commands.tested] {
                try restore()
                let result = try await run(arguments, ["DISK_TRACE": trace])
                try #require(result.status == 0, "\(result)")
                length = try DiskOperation.read(trace).count
                for (url, digest) in try await CacheCheck.digests(in: stage.cache) {
                    if let digest { allowed[url, default: []].insert(digest) }
                }
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
                if kind != .firstPrefetch { try await stage.fill(urls, "--fixed", "--parallel", "1") }
                // The bytes of half of the cached covers, and of none.
                let duplicates = try stage.list(
                    (0..<5).map { "\(origin.coverURL($0 + 50))?same=\($0)&size=4000" }
                        + (5..<8).map { origin.coverURL($0 + 50) }, name: "duplicates.txt")
                await origin.stop()
                // From now on the URLs have other covers.
                options.port = origin.port
                options.size = 5_000
                let changed = try await Origin.start(options)
                let others = try stage.list(
                    urls.map { $0.replacing("/covers/", with: "/covers/1") } + [urls[0] + "?other"])
                func prefetch(_ list: String, _ report: String = "report") -> [String] {
                    ["prefetch", list, "--report", "\(stage.folder)/\(report)", "--retries", "0"]
                }
                // Nine whole covers, and one that shares its bytes.
                let remove = ["cache", "remove", "--matching", "*/covers/?.jpg", "--force"]
                let removed = Set(urls.prefix(10))
                let third = try stage.list((40..<46).map { changed.coverURL($0) }, name: "other.txt")
                var commands = Commands(tested: prefetch(others), other: prefetch(third, "other-report"))
                switch kind {
                case .firstPrefetch, .prefetch: break
                case .sweep: try await killPrefetch(of: others, in: stage)
                case .refresh: commands.tested = ["refresh"] + prefetch("").dropFirst(2)
                case .evict: commands.tested = ["cache", "evict", "--to", "24K"]
                case .remove: (commands.tested, commands.removed) = (remove, removed)
                case .duplicates:
                    commands = Commands(tested: prefetch(duplicates), other: remove, removed: removed)
                case .repair, .rebuild: commands.tested = ["cache", "verify", "--repair"]
                case .get: commands.tested = ["get", "--offline", urls[3], "-o", stage.folder + "/cover.jpg"]
                }
                try await body(Scenario(kind, stage, commands))
                await changed.stop()
            }
        }

        /// Runs a prefetch until covers are written and before their rows are.
        private static func killPrefetch(of list: String, in stage: Stage) async throws {
            let before = CacheCheck.files(in: stage.cache).count
            let killed = try stage.start(["prefetch", list], disk: ["DISK_KILL": "sync"])
            try #require(await killed.exit().signal == SIGKILL)
            try #require(CacheCheck.files(in: stage.cache).count > before)
        }

        /// What a cache lists. Unlike reading its covers, it drops nothing.
        private static func digests(in cache: String, _ stage: Stage) async throws -> [String: String] {
            let listed = try await SleeveStage.run(
                ["cache", "list", "--json", "--cache", cache], environment: stage.environment)
            let lines: [ListLine] = try listed.lines()
            return Dictionary(lines.map { ($0.url, $0.digest) }) { $1 }
        }

        /// Changes a byte of two covers, and cuts off a third. - Returns: their URLs.
        private static func damage(_ listed: [String: String], in cache: String) throws -> Set<String> {
            let distinct = listed.sorted { $0.key < $1.key }.filter { entry in
                listed.values.count { $0 == entry.value } == 1
            }
            for (number, digest) in distinct.prefix(3).map(\.value).enumerated() {
                let file = URL(filePath: "\(cache)/covers/\(digest.prefix(2))/\(digest)")
                var bytes = try Data(contentsOf: file)
                if number == 2 { bytes.removeLast(1_500) } else { bytes[2_000] ^= 1 }
                try bytes.write(to: file)
            }
            return Set(distinct.prefix(3).map(\.key))
        }

        /// The numbers of the operations at which something goes wrong: all, or some as far from each other as the others. Where they
        /// begin differs from command to command, as most commands do the same to the cache.
        var places: StrideTo<Int> {
            let distance = isThorough ? 1 : max(1, length / 5)
            return stride(from: 1 + number * 3 % distance, to: .max, by: distance)
        }

        /// The command's, from 0.
        var number: Int { Kind.allCases.firstIndex(of: kind)! }

        /// The calls that may fail with an error, in their order. Their kinds: what is called of which file of the cache. Covers are one
        /// kind, and marks of writers, and new files under other names than their own. Nearly every command touches the common ones.
        func calls(failingWith error: Int32) async throws -> [(kind: String, isCommon: Bool)] {
            try restore()
            _ = try await run(commands.tested, ["DISK_FAIL": "\(error):0", "DISK_TRACE": trace])
            return try DiskOperation.read(trace).filter { $0.kind == .failed }.map { call in
                let path = call.path.dropFirst(stage.folder.count).split(separator: "/")
                let name = path.dropFirst(path.first == "cache" ? 1 : 0).first ?? "."
                let kind = "\(error), \(call.offset): \(name.hasPrefix(".sleeve") ? ".sleeve" : name), \(path.count)"
                return (kind, name.contains("index.sqlite3") || Self.commonNames.contains(String(name)))
            }
        }

        private static let commonNames = ["covers", "writing", "entries.jsonl", "writer.lock", "sizes", "."]

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
            let result = try await run(commands.tested, variables.merging(["DISK_TRACE": trace]) { $1 })
            let operations = try DiskOperation.read(trace)
            return Attempt(
                result: result, failed: operations.first { $0.kind == .failed }, faults: try await faults())
        }

        /// Runs the command on a new copy of the cache, and stops it after an operation. Meanwhile another process runs, and is
        /// killed before an operation, unless the command holds the lock that it needs. Then the command goes on.
        /// - Parameter otherNumber: Of that operation; nil if the other process runs to its end.
        /// - Returns: nil if the command ends before it is stopped.
        func attempt(stoppedAfter number: Int, otherKilledBefore otherNumber: Int?) async throws -> Attempt? {
            try restore()
            let child = try stage.start(commands.tested, disk: ["DISK_STOP": "\(number)"])
            guard await child.stops() else {
                _ = await child.exit()
                return nil
            }
            // None is created: a file of this name in a folder that no process has marked yet would be a person's.
            let path = stage.cache + "/writer.lock"
            let lock = FileManager.default.fileExists(atPath: path) ? try? FileLock(path: path) : nil
            let isFree = try lock?.tryLock() ?? true
            if isFree {
                lock?.unlock()
                _ = try await run(commands.other, otherNumber.map { ["DISK_KILL": "\($0)"] } ?? [:])
            }
            child.kill(SIGCONT)
            let result = await child.exit()
            let faults = try await faults()
            let defects = try await CacheCheck.defects(in: stage.cache).map { "verify: \($0)" }
            return Attempt(result: result, hasOther: isFree, faults: faults + defects)
        }

        /// What is wrong with the cache, compared with what was there and with what the reports have acknowledged.
        private func faults() async throws -> [String] {
            var required = kind.evicts ? [:] : before
            // What the other process has stored may be evicted.
            let paths = kind.evicts ? [] : [report, otherReport]
            let reports = paths.map { (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "" }
            for line: ReportLine in try jsonLines(reports.joined()) {
                if let digest = line.digest { required[line.url] = [digest] }
            }
            // What replaces a cover may be there without having been acknowledged.
            for (url, digests) in required where kind == .refresh && before[url] == digests {
                required[url] = allowed[url] ?? digests
            }
            return await CacheCheck(
                required: required, allowed: allowed, damaged: damaged, findsLitter: true,
                keepsReplaced: kind == .refresh
            ).faults(in: stage.cache)
        }

        /// Runs the command again on what the last attempt left.
        func again() async throws -> RunResult { try await stage.start(commands.tested, disk: [:]).exit() }

        /// Bytes that the covers take on the disk.
        func allocatedBytes() -> Int {
            CacheCheck.files(in: stage.cache).reduce(0) {
                $0 + AllocatedSpace.bytes(of: "\(stage.cache)/covers/\($1.prefix(2))/\($1)")
            }
        }
    }
#endif
