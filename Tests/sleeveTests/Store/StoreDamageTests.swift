#if os(Linux)
    import Foundation
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
        }
    }
#endif
