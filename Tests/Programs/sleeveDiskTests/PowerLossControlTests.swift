#if os(Linux)
    import Foundation
    import OriginServer
    import SleeveStage
    import Testing

    extension DiskTests {
        /// Recordings that are changed so that they break one rule of the store: the harness must find what that loses.
        @Suite(.serialized) struct PowerLossControlTests {
            /// Whether power loss shows a fault in a recording.
            /// - Parameter text: of the fault; nil for any.
            private func finds(
                _ text: String? = nil, in recording: DiskRecording, limit: Int = 8, isAtEnd: Bool = false
            ) async throws -> Bool {
                func isMeant(_ fault: String) -> Bool { text.map(fault.contains) ?? true }
                return try await recording.powerLoss(limit: limit, isAtEnd: isAtEnd, isEnough: isMeant).faults
                    .contains(where: isMeant)
            }

            private func stored(in stage: Stage) async throws -> DiskRecording {
                var recording = DiskRecording(stage)
                try await recording.run(["prefetch", try stage.list(stage.urls(0..<6))])
                return recording
            }

            /// The first cover of a recording: its file, and the operation that creates it.
            private func firstCover(_ recording: DiskRecording, ofStep step: Int = 0) throws -> (
                index: Int, path: String
            ) {
                let index = try #require(recording.firstIndex(ofStep: step) { $0.kind == .create && $0.isOfCover })
                return (index, recording.operations[index].path)
            }

            @Test func `files that are not synced are found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.forget { $0.kind == .syncFileSystem }
                    #expect(try await finds("is lost", in: recording))
                }
            }

            @Test func `rows before the sync of their files are found to name covers without bytes`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.delaySyncsOfFileSystem()
                    #expect(try await finds("has no bytes", in: recording))
                }
            }

            @Test func `a file that is unlinked before its row is durably gone is found to leave a row without bytes`()
                async throws
            {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    try await recording.run(["cache", "evict", "--to", "8K"], evicts: true)
                    recording.forget(ofStep: 1) { $0.isOfLog && $0.kind == .sync || $0.kind == .syncFileSystem }
                    #expect(try await finds("has no bytes", in: recording))
                }
            }

            /// As if another process had evicted the file between the look at it and the commit.
            @Test func `a found file that another process evicts is found to lose the cover`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    let same = "\(stage.origin.coverURL(30))?size=4000&same=0"
                    try await recording.run(["prefetch", try stage.list([same], name: "same.txt")])
                    let digest = try #require(recording.acknowledgements[same]?.first?.digest)
                    let path = "\(stage.cache)/covers/\(digest.prefix(2))/\(digest)"
                    recording.remove(path, at: recording.steps[1].operations.lowerBound)
                    #expect(try await finds("\(same) is lost", in: recording, limit: 20))
                }
            }

            @Test func `a sweep that takes a living writer's file is found to lose the cover`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    let cover = try firstCover(recording)
                    let sync = try #require(recording.firstIndex(ofStep: 0) { $0.kind == .syncFileSystem })
                    recording.remove(cover.path, at: sync)
                    #expect(try await finds("is lost", in: recording))
                }
            }

            /// As if a writer had taken the half of a file that a killed one had left for the cover itself.
            @Test func `a half-written file that is adopted by its name is found to lose the cover`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    let path = try firstCover(recording).path
                    let write = try #require(recording.firstIndex(ofStep: 0) { $0.kind == .write && $0.path == path })
                    recording.operations[write].length /= 2
                    recording.operations[write].data.removeLast(
                        recording.operations[write].data.count - recording.operations[write].length)
                    #expect(try await finds("is lost", in: recording))
                }
            }

            @Test func `a folder of covers whose name does not become durable is found to lose covers`() async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    recording.forget { $0.kind == .makeDirectory && $0.isOfCover }
                    #expect(try await finds("is lost", in: recording))
                }
            }

            /// With the index gone, the log of entries is all that says which file is whose.
            @Test(arguments: [false, true])
            func `without index and log of entries nothing is left to rebuild from`(isLogLost: Bool) async throws {
                try await withStage { stage in
                    var recording = try await stored(in: stage)
                    try await recording.run(["cache", "verify"])
                    for name in ["index.sqlite3", "index.sqlite3-wal"] { recording.remove("\(stage.cache)/\(name)") }
                    if isLogLost { recording.forget { $0.kind == .write && $0.path.hasSuffix("/entries.jsonl") } }
                    // At the end only: before it, the index is there.
                    #expect(try await finds("is lost", in: recording, limit: 20, isAtEnd: true) == isLogLost)
                }
            }
        }
    }
#endif
