#if os(Linux)
    import Foundation
    import OriginServer
    import SleeveStage
    import Testing

    extension DiskTests {
        /// Runs of the command are recorded operation by operation. For each moment, states of the disk that power loss may leave are
        /// built, and the cache is recovered from each.
        @Suite(.serialized) struct PowerLossTests {
            private func expectNoFault(_ recording: DiskRecording, sourceLocation: SourceLocation = #_sourceLocation)
                async throws
            {
                let result = try await recording.powerLoss()
                print("\(result.states) states after power loss")
                #expect(result.states > 100, sourceLocation: sourceLocation)
                #expect(result.faults.isEmpty, "\(result.faults)", sourceLocation: sourceLocation)
            }

            @Test func `the replay of a recording gives the files on the disk`() async throws {
                try await withStage { stage in
                    let recording = try await stored(in: stage)
                    var disk = Disk(directory: stage.folder)
                    for operation in recording.operations where operation.path.hasPrefix(stage.cache) {
                        disk.apply(operation)
                    }
                    let files = CrashState(disk).contents(of: disk).files
                    #expect(files.count > 4)
                    for (path, bytes) in files {
                        let actual = [UInt8](try Data(contentsOf: URL(filePath: path)))
                        #expect(actual == bytes, "\(path) has \(actual.count) bytes, the replay \(bytes.count)")
                    }
                }
            }

            @Test func `power loss while covers are stored loses none that was acknowledged`() async throws {
                try await withStage { stage in try await expectNoFault(stored(in: stage)) }
            }

            /// Two runs, with the same bytes at several URLs.
            private func stored(in stage: Stage) async throws -> DiskRecording {
                var recording = DiskRecording(stage)
                try await recording.run([
                    "prefetch", try stage.list(stage.urls(0..<8) + stage.urls(20..<24, "size=4000&same=1")),
                ])
                let more = stage.urls(8..<14) + stage.urls(30..<34, "size=4000&same=10")
                try await recording.run(["prefetch", try stage.list(more, name: "more.txt")])
                return recording
            }

            @Test func `power loss around an eviction loses no cover that was downloaded again`() async throws {
                try await withStage { stage in try await expectNoFault(evicted(in: stage)) }
            }

            private func evicted(in stage: Stage) async throws -> DiskRecording {
                var recording = DiskRecording(stage)
                let list = try stage.list(stage.urls(0..<10) + stage.urls(20..<22, "size=4000&same=1"))
                try await recording.run(["prefetch", list])
                try await recording.run(["cache", "evict", "--to", "16K"], evicts: true)
                try await recording.run(["prefetch", list])
                return recording
            }

            @Test func `power loss while a full cache stores and evicts loses nothing that was kept`() async throws {
                try await withStage { stage in
                    var recording = DiskRecording(stage)
                    for part in 0..<3 {
                        let list = try stage.list(stage.urls(part * 12..<part * 12 + 12), name: "list-\(part).txt")
                        try await recording.run(["prefetch", list, "--capacity", "160K"], evicts: true)
                    }
                    try await expectNoFault(recording)
                }
            }

            /// A refresh that stores no cover makes earlier commits durable.
            @Test(arguments: [false, true])
            func `power loss during a refresh leaves the old cover or the new one`(isRefreshedBefore: Bool) async throws
            {
                try await withStage { stage in
                    var options = OriginOptions()
                    options.cacheControl = "max-age=0"
                    options.size = 4_000
                    let first = try await Origin.start(options)
                    // Two covers share their bytes with covers that change.
                    let urls = (0..<8).map { first.coverURL($0) }
                    let shared = (1..<3).map { "\(first.coverURL($0 + 20))?size=4000&same=\($0)" }
                    var recording = DiskRecording(stage)
                    try await recording.run(["prefetch", try stage.list(urls + shared)])
                    if isRefreshedBefore { try await recording.run(["refresh"]) }
                    await first.stop()
                    // The same URLs have other covers.
                    options.port = first.port
                    options.size = 5_000
                    let second = try await Origin.start(options)
                    try await recording.run(["refresh"])
                    await second.stop()
                    let digests = recording.acknowledgements.mapValues { Set($0.map(\.digest)) }
                    #expect(urls.allSatisfy { digests[$0]?.count == 2 }, "\(digests)")
                    #expect(shared.allSatisfy { digests[$0]?.count == 1 }, "\(digests)")
                    #expect(Set(digests.values.flatMap(\.self)).count == 16)
                    try await expectNoFault(recording)
                }
            }

            @Test func `power loss under two writers loses no cover of either`() async throws {
                try await withStage { stage in
                    var recording = DiskRecording(stage)
                    // Each refers to bytes that the other may have stored.
                    let lists = try (0..<2).map { part in
                        let own = stage.urls(part * 10..<part * 10 + 6)
                        return try stage.list(
                            own + stage.urls(40 + part * 8..<48 + part * 8, "size=4000&same=\(1 - part)1"),
                            name: "\(part)")
                    }
                    try await recording.run(["prefetch", lists[0]], ["prefetch", lists[1]])
                    try await expectNoFault(recording)
                }
            }

            @Test func `power loss during a repair loses nothing`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    try await recording.run(["cache", "verify", "--repair"])
                    for suffix in ["", "-wal"] {
                        // As if the index had rotted away: it is gone for good.
                        let path = stage.cache + "/index.sqlite3" + suffix
                        if unlink(path) == 0 { recording.remove(path) }
                    }
                    unlink(stage.cache + "/index.sqlite3-shm")
                    try await recording.run(["cache", "verify", "--repair"])
                    try await expectNoFault(recording)
                }
            }

            /// With the old capacity, the next opening would evict them.
            @Test func `power loss after the capacity was raised loses nothing that was acknowledged under it`()
                async throws
            {
                try await withStage { stage in
                    var recording = DiskRecording(stage)
                    let first = try stage.list(stage.urls(0..<8))
                    try await recording.run(["prefetch", first, "--capacity", "128K"], evicts: true)
                    let second = try stage.list(stage.urls(8..<40), name: "second.txt")
                    try await recording.run(["prefetch", second, "--capacity", "64M"])
                    try await expectNoFault(recording)
                }
            }

            /// A killed process leaves files that no row names, one of them half-written, under the names that the next one needs.
            @Test func `power loss after a killed prefetch loses nothing of the next one`() async throws {
                try await withStage { stage in
                    let list = try stage.list(stage.urls(0..<8))
                    var whole = DiskRecording(stage)
                    try await whole.run(["prefetch", list])
                    let sync = whole.operations.firstIndex { $0.kind == .syncFileSystem } ?? whole.operations.count / 2
                    try FileManager.default.removeItem(atPath: stage.cache)
                    var recording = DiskRecording(stage)
                    try await recording.run(["prefetch", list], killedBefore: sync)
                    try await recording.run(["prefetch", list])
                    try await expectNoFault(recording)
                }
            }
        }
    }
#endif
