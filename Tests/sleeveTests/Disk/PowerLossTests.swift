#if os(Linux)
    import Foundation
    import OriginServer
    import Platform
    import SQLite
    import Testing

    @testable import CoverCache

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
                    // The processes write to the leases through a mapping; they have ended.
                    for (path, bytes) in files where !path.hasSuffix("/leases") {
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
                try await recording.run(["evict", "--to", "16K"], evicts: true)
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
                    try await recording.run(["verify", "--repair"])
                    for suffix in ["", "-wal"] {
                        // As if the index had rotted away: it is gone for good.
                        let path = stage.cache + "/index.sqlite3" + suffix
                        if unlink(path) == 0 { recording.remove(path) }
                    }
                    unlink(stage.cache + "/index.sqlite3-shm")
                    try await recording.run(["verify", "--repair"])
                    try await expectNoFault(recording)
                }
            }

            // MARK: Faults that the harness must find

            private func expectFault(
                _ recording: DiskRecording, recover: (String) throws -> Void = CacheCheck.recover,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                #expect(
                    !(try await recording.powerLoss(limit: 60, maximumFaults: 1, recover: recover).faults.isEmpty),
                    sourceLocation: sourceLocation)
            }

            @Test func `rows before the sync of their segment are found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.forget { $0.kind == .sync && $0.path.hasSuffix(".seg") }
                    try await expectFault(recording)
                }
            }

            @Test func `holes before a durable delete are found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await evicted(in: stage)
                    recording.forget { $0.kind == .sync && $0.path.hasSuffix("-wal") }
                    try await expectFault(recording)
                }
            }

            @Test func `a segment whose name was not synced is found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.forget { $0.kind == .syncDirectory && $0.path.hasSuffix("/segments") }
                    try await expectFault(recording)
                }
            }

            @Test func `a segment that was removed before it was written is found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.removeSegmentBeforeSecondRun()
                    try await expectFault(recording)
                }
            }

            @Test func `a reference before its blob is found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = DiskRecording(stage)
                    try await recording.run(["prefetch", try stage.list(stage.urls(0..<4))])
                    let shared = (0..<4).map { "\(stage.origin.coverURL($0 + 30))?size=4000&same=\($0)" }
                    try await recording.run(["prefetch", try stage.list(shared, name: "shared.txt")])
                    recording.forget(ofStep: 0) { $0.kind == .write && $0.path.hasSuffix(".seg") }
                    let faults = try await recording.powerLoss(maximumFaults: .max).faults
                    #expect(shared.allSatisfy { url in faults.contains { $0.hasSuffix("\(url) is lost") } })
                }
            }

            /// Power loss takes the delete with it: an evicted cover has a row again, and no bytes. It was downloaded a second time.
            @Test func `a recovery that trusts the rows of evicted covers is found to lose new ones`() async throws {
                try await withStage { stage in
                    var recording = try await evicted(in: stage)
                    recording.forget { $0.kind == .sync && $0.path.hasSuffix("-wal") }
                    func lost(_ recover: (String) throws -> Void) async throws -> [String] {
                        try await recording.powerLoss(maximumFaults: .max, recover: recover).faults
                            .filter { $0.hasSuffix(" is lost") }
                    }
                    #expect(try await lost(CacheCheck.recover).isEmpty)
                    #expect(try await !lost(recoverTrustingRows).isEmpty)
                }
            }

            /// Opens a cache after removing the records whose bytes the index has elsewhere.
            private func recoverTrustingRows(_ cache: String) throws {
                let directory = try CacheDirectory(creating: cache)
                var positions: [Digest: RecordPosition] = [:]
                // The first states have no index yet.
                if let index = try? Connection(cache + "/index.sqlite3") {
                    try? index.statement("SELECT digest, segment, offset FROM blobs").each { row in
                        guard let digest = row.digest(0) else { return }
                        positions[digest] = RecordPosition(segment: row.int(1), offset: row.int(2))
                    }
                }
                for number in try directory.segmentNumbers() {
                    let path = directory.segment(number)
                    guard let file = try SegmentFile(reading: path) else { continue }
                    let segment = try #require(FileHandle(forUpdatingAtPath: path))
                    _ = try SegmentScanner.scan(file, number) { found in
                        guard case .record(let record) = found,
                            let position = positions[record.header.digest],
                            position != record.position
                        else { return }
                        try segment.seek(toOffset: UInt64(record.offset))
                        try segment.write(contentsOf: Data(count: RecordHeader.size))
                    }
                }
                try CacheCheck.recover(cache)
            }

            @Test func `a recovery that reads no segment is found to lose covers`() async throws {
                try await withStage { stage in
                    let recording = try await stored(in: stage)
                    try await expectFault(recording) { cache in
                        // The index says that it knows all records.
                        let index = cache + "/index.sqlite3"
                        try? Connection(index).execute(
                            "INSERT OR REPLACE INTO segments(id, scanned, live) VALUES (1, 1 << 40, 0)")
                        try CacheCheck.recover(cache)
                    }
                }
            }
        }
    }
#endif
