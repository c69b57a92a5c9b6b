import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

/// A named pipe without a reader until `read` is called.
private final class Fifo {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        try #require(mkfifo(path, 0o600) == 0)
        // Does not block without a writer. From here on, opening the pipe for writing does not block.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    /// Reads until no writer is left. Blocks the thread.
    func readToEnd() -> String {
        _ = fcntl(descriptor, F_SETFL, 0)
        var (text, chunk): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 64 << 10))
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count <= 0 { return String(decoding: text, as: UTF8.self) }
            text += chunk[..<count]
        }
    }
}

extension CacheCommandTests {
    @Suite struct StalledReaderTests {
        @Test func `an unread report stops no transfer, and is complete once it is read`() async throws {
            try await withStage { stage in
                let fifo = try Fifo(stage.folder + "/report")
                let list = try stage.list(stage.urls(0..<3_000, "size=400"))
                let child = try stage.start("prefetch", list, "--report", fifo.path, "--json")
                try await eventually { stage.origin.requestCount >= 3_000 }
                // 3,000 lines exceed the pipe's buffer, so the command waits for the reader.
                let lines: [ReportLine] = try jsonLines(fifo.readToEnd())
                #expect(lines.count { $0.outcome == "downloaded" } == 3_000)
                let result = await child.exit()
                #expect(result.status == 0, "\(result)")
                #expect(try result.summary().downloaded == 3_000)
            }
        }

        @Test func `a signal ends a run with an unread report`() async throws {
            try await withStage { stage in
                let fifo = try Fifo(stage.folder + "/report")
                let list = try stage.list(stage.urls(0..<3_000, "size=400"))
                let child = try stage.start("prefetch", list, "--report", fifo.path)
                try await eventually { stage.origin.requestCount >= 3_000 }
                child.kill(SIGINT)
                let result = await child.exit()
                #expect(result.signal == nil && result.status == 128 + SIGINT, "\(result)")
                let problem = "the report \(fifo.path) is incomplete: its reader has stalled"
                #expect(result.stderr.contains(problem) && result.stdout.contains("downloaded"), "\(result)")
            }
        }

        @Test func `an unread stderr stops no transfer`() async throws {
            try await withStage { stage in
                let fifo = try Fifo(stage.folder + "/stderr")
                let list = try stage.list(stage.urls(0..<700, "size=400&status=500&times=1"))
                let script = "exec \"$SLEEVE\" prefetch \"$1\" --log-level debug --json 2>\"$2\""
                let child = try Child("/bin/sh", ["-c", script, "sh", list, fifo.path], environment: stage.environment)
                try await eventually(within: .seconds(180)) { stage.origin.requestCount >= 1_400 }
                let log = fifo.readToEnd()
                #expect(log.utf8.count > 64 << 10 && log.contains("trying again"))
                let result = await child.exit()
                #expect(try result.summary().downloaded == 700, "\(result)")
            }
        }
    }
}
