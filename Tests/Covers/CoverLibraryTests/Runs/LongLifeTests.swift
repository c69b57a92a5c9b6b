import Foundation
import OriginServer
import Platform
import Testing

@testable import CoverLibrary

/// The descriptors, threads and memory after many runs in one process.
@Suite(.timeLimit(.minutes(180))) struct LongLifeTests {
    /// The memory and the files of the process and its cache.
    private struct Footprint {
        var index: Int
        var memory: Int
        var descriptors: Int

        init(_ stage: Stage) throws {
            let index = stage.folder + "/cache/index.sqlite3"
            self.index = AllocatedSpace.bytes(of: index) + AllocatedSpace.bytes(of: index + "-wal")
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            memory = (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
        }
    }

    /// In a separate process: other tests open files, too.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "needs /proc"))
    func `refresh rounds leave the index, the memory and the descriptors as they were`() async {
        await #expect(processExitsWith: .success) {
            let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil
            let (rounds, covers) = isThorough ? (1_000, 1_000) : (20, 100)
            try await withStage { stage in
                let urls = (1...covers).map { stage.url($0, "cache-control=max-age%3D0") }
                _ = try await stage.library.prefetch(urls).summary()
                var first: Footprint?
                for round in 1...rounds {
                    let summary = try await stage.library.refresh().summary()
                    guard summary.revalidated == covers else { fatalError("round \(round): \(summary)") }
                    if round == rounds / 10 { first = try Footprint(stage) }
                    if round % (rounds / 10) == 0 { print("round \(round): \(try Footprint(stage))") }
                }
                let last = try Footprint(stage)
                guard let first, last.descriptors <= first.descriptors + 8, last.index <= first.index + (8 << 20),
                    last.memory <= first.memory + (16 << 20)
                else { fatalError("\(String(describing: first)) became \(last)") }
            }
        }
    }
}
