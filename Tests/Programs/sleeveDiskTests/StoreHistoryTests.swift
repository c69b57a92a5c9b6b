#if os(Linux)
    import Foundation
    import OriginServer
    import Platform
    import SleeveStage
    import Testing

    extension DiskTests {
        /// Random histories of a few covers that share bytes and replace each other.
        @Suite(.serialized) struct StoreHistoryTests {
            @Test(arguments: 0..<(isThorough ? 200 : 1))
            func `after any history the cache has what was stored last, but for what was removed`(seed: Int)
                async throws
            {
                try await withStage { stage in
                    var history = StoreHistory(stage, seed: UInt64(seed))
                    for _ in 0..<30 { try await history.step() }
                    try await history.end()
                }
            }
        }
    }

    /// A history, and what the cache may have because of it.
    private struct StoreHistory {
        private static let keys = 0..<6
        /// The covers' lengths, which tell the versions that the origin has had. 0 stands for no cover.
        private static let lengths = [4_000, 5_000, 9_000]

        let stage: Stage
        private var random: SplitMix64
        private var length = Self.lengths[0]
        private var port = 0
        /// The versions that each cover may have now.
        private var states: [Int: Set<Int>] = Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, [0]) })
        /// The versions that each cover has ever had.
        private var stored: [Int: Set<Int>] = [:]
        /// The versions of commands that were killed, which the log may name although no row does.
        private var begun: [Int: Set<Int>] = [:]
        /// A refresh was killed: for a day what it had replaced stays, as it may turn out that a placeholder has.
        private var keepsReplaced = false
        private var log: [String] = []
        /// The kinds of the first changes: each once.
        private var kinds = Array(0..<Self.kindCount)
        private static let kindCount = 14

        init(_ stage: Stage, seed: UInt64) {
            self.stage = stage
            // Neighbouring seeds begin alike.
            random = SplitMix64(seed: seed &* 1_000_003)
            kinds.shuffle(using: &random)
        }

        /// Two of the covers share the bytes of others.
        private func url(_ key: Int) -> String { "http://127.0.0.1:\(port)/covers/\(key).jpg?same=\(key % 4)" }

        mutating func step() async throws {
            // It keeps its port, and so the URLs.
            var options = OriginOptions()
            (options.port, options.size) = (port, length)
            let origin = try await Origin.start(options)
            port = origin.port
            try await change()
            await origin.stop()
            try await compare()
        }

        private mutating func change() async throws {
            let key = Int.random(in: Self.keys, using: &random)
            switch kinds.popLast() ?? Int.random(in: 0..<Self.kindCount, using: &random) {
            case 0...2: try await prefetch()
            case 3: try await prefetch(killedBefore: Int.random(in: 1...70, using: &random))
            case 4: try await prefetch(beside: ["cache", "verify", "--repair"])
            case 5: try await refresh()
            case 6: try await refresh(killedBefore: Int.random(in: 1...70, using: &random))
            case 7:
                // The exit code says whether it was there.
                _ = try await run(["cache", "remove", url(key)], [0, 3])
                states[key] = [0]
            case 8:
                _ = try await run(
                    ["cache", "remove", url(key)], [0, 3], killedBefore: Int.random(in: 1...30, using: &random))
                states[key]?.insert(0)
            case 9:
                _ = try await run(["cache", "evict", "--to", "\(Int.random(in: 4...40, using: &random))K"])
                for key in Self.keys { states[key]?.insert(0) }
            case 10: length = Self.lengths.randomElement(using: &random)!
            case 11: _ = try await run(["cache", "verify", "--repair"])
            case 12: loseIndex()
            default:
                loseIndex()
                _ = try await run(
                    ["cache", "verify", "--repair"], killedBefore: Int.random(in: 1...60, using: &random))
            }
        }

        private mutating func prefetch(beside other: [String]? = nil, killedBefore number: Int? = nil) async throws {
            let others = Self.keys.dropFirst().filter { _ in Bool.random(using: &random) }
            let keys = Bool.random(using: &random) || others.isEmpty ? [0] + others : others
            let list = try stage.list(keys.map(url))
            let child = try other.map { try stage.start($0, disk: [:]) }
            let isWhole = try await run(["prefetch", list], killedBefore: number)
            if let child { #expect(await child.exit().signal == nil) }
            for key in keys where states[key]?.contains(0) == true {
                states[key]?.insert(length)
                if isWhole { states[key]?.remove(0) } else { begun[key, default: []].insert(length) }
                stored[key, default: []].insert(length)
            }
        }

        private mutating func refresh(killedBefore number: Int? = nil) async throws {
            let isWhole = try await run(["refresh", "--all"], killedBefore: number)
            if !isWhole { keepsReplaced = true }
            for key in Self.keys where states[key] != [0] {
                states[key] = isWhole ? [length] : states[key]!.union([length])
                if !isWhole { begun[key, default: []].insert(length) }
                stored[key, default: []].insert(length)
            }
        }

        /// What was removed may come back: a log of what was stored does not say what was removed.
        private mutating func loseIndex() {
            log.append("the index is lost")
            for name in Stage.indexFiles { unlink("\(stage.cache)/\(name)") }
            for key in Self.keys {
                let back = states[key] == [0] ? stored[key] : begun[key]
                states[key]?.formUnion(back ?? [])
            }
        }

        /// - Returns: whether the command came to its end.
        private mutating func run(
            _ arguments: [String], _ good: Set<Int32> = [0], killedBefore number: Int? = nil
        ) async throws -> Bool {
            log.append(arguments.joined(separator: " ") + (number.map { ", killed before operation \($0)" } ?? ""))
            let child = try stage.start(arguments + ["--quiet"], disk: number.map { ["DISK_KILL": "\($0)"] } ?? [:])
            let result = await child.exit()
            if result.signal == SIGKILL, number != nil { return false }
            let isMissing = result.status == 1 && hasNoCache(result) && arguments[0] != "prefetch"
            let isGood = good.contains(result.status) || isMissing
            #expect(isGood, "\(result) after \(log)")
            return true
        }

        /// A killed process may leave nothing, or a directory that is no cache yet. `prefetch` makes one.
        private func hasNoCache(_ result: RunResult) -> Bool { result.stderr.contains("no cache at") }

        /// The cache lists what it may have; what it lists is what it has.
        private mutating func compare() async throws {
            let listed = try await stage.run("cache", "list", "--json")
            let isMissing = hasNoCache(listed)
            #expect(listed.status == 0 || isMissing, "\(listed) after \(log)")
            let lines: [ListLine] = isMissing ? [] : try listed.lines()
            let digests = Dictionary(lines.map { ($0.url, $0.digest) }) { $1 }
            for key in Self.keys {
                let found = digests[url(key)]
                let version = found.map { found in
                    Self.lengths.first { digest(cover(key % 4, aboutBytes: $0)) == found } ?? -1
                }
                let isRight = states[key]?.contains(version ?? 0) == true
                #expect(isRight, "cover \(key) has version \(version ?? 0) of \(states[key] ?? []) after \(log)")
                states[key] = [version ?? 0]
            }
        }

        /// After a writer has come to its end, the cache has all bytes and no litter.
        mutating func end() async throws {
            _ = try await run(["cache", "verify", "--repair"])
            try await compare()
            let digests = try await CacheCheck.digests(in: stage.cache)
            #expect(digests.values.allSatisfy { $0 != nil }, "\(digests) after \(log)")
            var named = Set(digests.values.compactMap(\.self))
            if keepsReplaced {
                named.formUnion(
                    Self.keys.flatMap { key in Self.lengths.map { digest(cover(key % 4, aboutBytes: $0)) } })
            }
            #expect(CacheCheck.litter(in: stage.cache, named: named).isEmpty, "\(log)")
        }
    }
#endif
