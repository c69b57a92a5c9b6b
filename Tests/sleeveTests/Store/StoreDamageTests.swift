#if os(Linux)
    import Foundation
    import Platform
    import OriginServer
    import Testing

    extension CommandTests {
        /// What someone else has done to a cache's files.
        @Suite struct StoreDamageTests {
            @Test
            func `a cover's file is its bytes and nothing else, named by their SHA-256, readable by its user only`()
                async throws
            {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<3) + stage.urls(3..<5, "size=4000&same=1"))
                    #expect(Set(CacheCheck.files(in: stage.cache)) == Set((0..<3).map { digest(cover($0)) }))
                    for number in 0..<3 {
                        let path = stage.coverFile(digest(cover(number)))
                        #expect(try Data(contentsOf: URL(filePath: path)) == Data(cover(number)))
                        let attributes = try FileManager.default.attributesOfItem(atPath: path)
                        #expect(attributes[.posixPermissions] as? Int == 0o600)
                    }
                }
            }

            enum Leftover: CaseIterable, Sendable {
                case half, empty, otherBytes, longer

                var bytes: [UInt8] {
                    let whole = cover(1)
                    return switch self {
                    case .half: Array(whole.prefix(whole.count / 2))
                    case .empty: []
                    case .otherBytes: whole.map { $0 ^ 1 }
                    case .longer: whole + [0]
                    }
                }
            }

            /// A process that was killed left it, and perhaps no mark.
            @Test(arguments: Leftover.allCases, [false, true])
            func `a file under a cover's name with other bytes is replaced, not adopted`(
                leftover: Leftover, isMarked: Bool
            )
                async throws
            {
                try await withStage { stage in
                    let urls = stage.urls(0..<3)
                    try await stage.fill(Array(urls[..<1]))
                    try leave(leftover.bytes, digest(cover(1)), in: stage, isMarked: isMarked)
                    try await stage.fill(urls)
                    #expect(stage.origin.requestCount == 3)
                    let covers = Dictionary(uniqueKeysWithValues: urls.enumerated().map { ($1, cover($0)) })
                    #expect(try await stage.unreadable(covers).isEmpty)
                    #expect(try await stage.run("verify").status == 0)
                    #expect(try await stage.litter().isEmpty)
                }
            }

            @Test func `what a killed process left is removed by the next writer, and files of covers stay`()
                async throws
            {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<3))
                    try leave([1, 2, 3], digest([1, 2, 3]), in: stage, isMarked: true)
                    try leave([4], "\(digest(cover(0))).99999999.part", in: stage, isMarked: true)
                    try await stage.fill(stage.urls(3..<4))
                    #expect(try await stage.litter().isEmpty)
                    #expect(try await stage.entries().count == 4)
                    #expect(try await stage.run("verify").status == 0)
                }
            }

            @Test func `a repair removes files that no entry names, with or without a mark`() async throws {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<3))
                    try leave([1, 2, 3], digest([1, 2, 3]), in: stage, isMarked: false)
                    #expect(try await stage.run("verify", "--repair").status == 0)
                    #expect(try await stage.litter().isEmpty)
                    #expect(try await stage.entries().count == 3)
                }
            }

            private func leave(_ bytes: [UInt8], _ name: String, in stage: Stage, isMarked: Bool) throws {
                let path = stage.coverFile(name)
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data(bytes).write(to: URL(filePath: path))
                guard isMarked else { return }
                // No process has this number.
                try FileManager.default.createDirectory(
                    atPath: stage.cache + "/writing", withIntermediateDirectories: true)
                try Data().write(to: URL(filePath: stage.cache + "/writing/99999999.0"))
            }

            @Test func `a missing, cut or changed file is a miss, and is downloaded again`() async throws {
                try await withStage { stage in
                    let urls = stage.urls(0..<4)
                    try await stage.fill(urls)
                    let files = (0..<4).map { URL(filePath: stage.coverFile(digest(cover($0)))) }
                    try FileManager.default.removeItem(at: files[0])
                    try Data(cover(1).dropLast(100)).write(to: files[1])
                    try Data(cover(2).map { $0 ^ 1 }).write(to: files[2])
                    for (number, url) in urls.enumerated() {
                        let result = try await stage.run("get", "--offline", url)
                        #expect(result.status == (number == 3 ? 0 : 3), "\(result)")
                        #expect(result.output == (number == 3 ? cover(3) : []))
                    }
                    try await stage.fill(urls)
                    #expect(stage.origin.requestCount == 7)
                    #expect(try await stage.run("verify").status == 0)
                    #expect(try await stage.litter().isEmpty)
                }
            }

            /// Each flip is in or near a row of one of two covers whose URLs differ in one bit.
            @Test func `one flipped bit of the index never gives another cover`() async throws {
                try await withStage { stage in
                    let urls = stage.urls(0..<24)
                    try await stage.fill(urls)
                    let index = stage.cache + "/index.sqlite3"
                    // Rows in the log are behind its checksums; the file has none.
                    let checkpoint = try await stage.shell(
                        "command -v sqlite3 >/dev/null || exit 0; sqlite3 \"$1\" 'PRAGMA wal_checkpoint(TRUNCATE)'",
                        index)
                    try #require(checkpoint.status == 0, "\(checkpoint)")
                    let covers = [urls[6]: cover(6), urls[7]: cover(7)]
                    let base = stage.folder + "/base"
                    try FileManager.default.moveItem(atPath: stage.cache, toPath: base)
                    let bytes = [UInt8](try Data(contentsOf: URL(filePath: base + "/index.sqlite3")))
                    let positions = Self.positions(of: covers, in: bytes)
                    try #require(positions.count > 100, "the rows are not in the index")
                    var random = SplitMix64(seed: 7)
                    var hits = 0
                    for position in positions.shuffled(using: &random).prefix(isThorough ? 2_000 : 60) {
                        try? FileManager.default.removeItem(atPath: stage.cache)
                        try FileManager.default.copyItem(atPath: base, toPath: stage.cache)
                        var flipped = bytes
                        let bit = UInt8.random(in: 0..<8, using: &random)
                        flipped[position] ^= 1 << bit
                        try Data(flipped).write(to: URL(filePath: index))
                        for (url, bytes) in covers {
                            let result = try await stage.run("get", "--offline", url)
                            let place = "bit \(bit) of byte \(position), \(url): \(result)"
                            #expect(result.signal == nil, "\(place)")
                            #expect(result.status == 0 ? result.output == bytes : result.output.isEmpty, "\(place)")
                            if result.status == 0 { hits += 1 }
                        }
                    }
                    #expect(hits > 0, "a flip need not hit both covers")
                }
            }

            /// The bytes around the URLs and the digests of covers, in text and in binary.
            private static func positions(of covers: [String: [UInt8]], in bytes: [UInt8]) -> [Int] {
                var positions: Set<Int> = []
                for (url, cover) in covers {
                    let text = digest(cover)
                    let binary = stride(from: 0, to: 64, by: 2).compactMap {
                        UInt8(text.dropFirst($0).prefix(2), radix: 16)
                    }
                    for needle in [Array(url.utf8), Array(text.utf8), binary] {
                        var start = 0
                        while let found = bytes[start...].firstRange(of: needle) {
                            positions.formUnion(
                                max(100, found.lowerBound - 24)..<min(bytes.count, found.upperBound + 24))
                            start = found.lowerBound + 1
                        }
                    }
                }
                return positions.sorted()
            }
        }
    }
#endif
