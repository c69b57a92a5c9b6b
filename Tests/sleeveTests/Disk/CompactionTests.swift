#if os(Linux)
    import Foundation
    import Testing

    extension DiskTests {
        @Suite(.serialized) struct CompactionTests {
            /// Every punched hole fails as on a file system without them.
            private let withoutHoles = ["DISK_FAIL": "\(EOPNOTSUPP):1:lasting"]

            /// Ten turnovers in the long form. Covers of many lengths arrive, and every fourth of the last two hundred is used again, so
            /// that segments become free in parts.
            @Test
            func
                `without holes the segments stay within the capacity, at least nine tenths of them are live, and what is kept is whole`()
                async throws
            {
                try await withStage { stage in
                    let capacity = 8 << 20
                    func url(_ number: Int) -> String {
                        stage.urls(number..<number + 1, "size=\(1_000 + number * 7_919 % 100_000)")[0]
                    }
                    for part in 0..<(isThorough ? 40 : 8) {
                        let first = part * 40
                        let used = stride(from: max(0, first - 200), to: first, by: 4)
                        let list = try stage.list((Array(used) + Array(first..<first + 40)).map(url))
                        let child = try stage.start(
                            ["prefetch", list, "--capacity", "\(capacity)", "--quiet"], disk: withoutHoles)
                        let result = await child.exit()
                        #expect(result.status == 0, "\(result)")
                        let lengths = try stage.segments().map { try Data(contentsOf: URL(filePath: $0)).count }
                        // A group more, until there is room for the next.
                        #expect(lengths.reduce(0, +) <= capacity + capacity / 16, "part \(part): \(lengths)")
                        let statistics = try await stage.stats()
                        let live = statistics.chargedBytes
                        #expect(lengths.reduce(0, +) <= live + live / 10, "part \(part): \(lengths), \(statistics)")
                    }
                    #expect(try await stage.entries().count > 60)
                    #expect(try await stage.run("verify").status == 0)
                }
            }

            @Test func `without holes a repair does not bring back a removed cover`() async throws {
                try await withStage { stage in
                    try await stage.fill(stage.urls(0..<20))
                    for arguments in [["remove", stage.urls(1..<2)[0]], ["verify", "--repair"]] {
                        let result = await (try stage.start(arguments, disk: withoutHoles)).exit()
                        #expect(result.status == 0, "\(result)")
                    }
                    unlink(stage.cache + "/index.sqlite3")
                    for suffix in ["-wal", "-shm"] { unlink(stage.cache + "/index.sqlite3" + suffix) }
                    #expect(try await stage.entries().count == 19)
                }
            }

            @Test func `without holes a damaged record of shared bytes costs no cover`() async throws {
                try await withStage { stage in
                    let (first, second) = (stage.urls(0..<6), stage.urls(20..<26, "size=4000&same=3"))
                    let others = try stage.list(stage.urls(50..<60, "size=60000"), name: "others.txt")
                    try await stage.fill(first)
                    try await stage.fill(second + stage.urls(50..<60, "size=60000"), "--capacity", "16M")
                    let segment = stage.cache + "/segments/0000000001.seg"
                    var bytes = try Data(contentsOf: URL(filePath: segment))
                    for url in second {
                        let position = try #require(bytes.range(of: Data(url.utf8))).lowerBound
                        bytes[position + 4] ^= 0xFF
                    }
                    try bytes.write(to: URL(filePath: segment))
                    let removed = await (try stage.start(["remove", others], disk: withoutHoles)).exit()
                    #expect(removed.status == 0, "\(removed)")
                    #expect(!FileManager.default.fileExists(atPath: segment))
                    for url in first + second {
                        #expect(try await stage.run("get", "--offline", url).status == 0, "\(url)")
                    }
                    #expect(try await stage.run("verify").status == 0)
                    for suffix in ["", "-wal", "-shm"] { unlink(stage.cache + "/index.sqlite3" + suffix) }
                    #expect(try await stage.entries().count == 12)
                }
            }

            @Test func `without holes an eviction shortens the files`() async throws {
                try await withStage { stage in
                    let list = try stage.list(stage.urls(0..<80, "size=60000"))
                    let filled = try stage.start(
                        ["prefetch", list, "--capacity", "16M", "--quiet"], disk: withoutHoles)
                    #expect(await filled.exit().status == 0)
                    let evicted = try stage.start(["evict", "--to", "2M"], disk: withoutHoles)
                    #expect(await evicted.exit().status == 0)
                    let lengths = try stage.segments().map { try Data(contentsOf: URL(filePath: $0)).count }
                    #expect(lengths.reduce(0, +) <= 2 << 20, "\(lengths)")
                    #expect(try await stage.entries().count > 15)
                    #expect(try await stage.run("verify").status == 0)
                }
            }
        }
    }
#endif
