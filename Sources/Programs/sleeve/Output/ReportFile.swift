import CommandSupport
import CoverLibrary
import Platform
import Synchronization

extension CoverTimings {
    /// The durations in microseconds, in the order of the stages; `end` in microseconds since 1970; the connection's number.
    var json: String {
        let object: JSONObject = [
            "queue": queue, "name": name, "connect": connect, "tls": tls, "firstByte": firstByte, "body": body,
            "storeQueue": storeQueue, "hash": hash, "append": append, "sync": sync, "commit": commit, "end": Int(end),
            "connection": connection,
        ]
        return object.text
    }
}

/// A report: one JSON line per cover, or per folder of a fill, written in blocks, or every 50 ms if lines are rare. A line follows the commit that
/// makes it true. A stalled reader slows the reading of the list, never a transfer.
final class ReportFile: Sendable {
    private static let blockSize = 32 << 10
    private static let interval = Duration.milliseconds(50)
    /// Maximum number of bytes that wait for the reader. Beyond it, the list is not read further.
    private static let maximumBacklog = 16 << 20
    let path: String
    private let terminal: Terminal
    private let writer: BackgroundWriter
    private let block = Mutex(Block())

    private struct Block {
        var bytes: [UInt8] = []
        /// The block will be written within `interval`.
        var isScheduled = false
    }

    /// - Throws: An exit code, after an error message.
    init(_ path: String) throws {
        self.path = path
        terminal = Terminal(descriptor: try OutputFile.create(path, ifOwn: Self.isReport))
        writer = BackgroundWriter(terminal)
    }

    /// Whether a file with these bytes at its start is a report.
    private static func isReport(_ bytes: [UInt8]) -> Bool {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return ["{\"url\":", "{\"folder\":"].contains(where: line.hasPrefix) && line.contains("\"outcome\":")
    }

    /// Waits until the backlog allows more lines, or the task is cancelled.
    func ready() async {
        while writer.backlog > Self.maximumBacklog, (try? await Task.sleep(for: .milliseconds(20))) != nil {}
    }

    func add(_ outcome: CoverOutcome) {
        var line: JSONObject = [
            "url": Redaction.redact(outcome.url), "line": outcome.line, "outcome": outcome.kind.rawValue,
            "digest": outcome.digest, "bytes": outcome.bytes,
            "milliseconds": JSONText(Decimals.text(outcome.milliseconds, 3)),
            "error": (outcome.failure?.detail).map { Redaction.redact($0) },
        ]
        if outcome.failure?.isGone == true { line.add("gone", true) }
        if let timings = outcome.timings { line.add("timings", raw: timings.json) }
        add(line)
    }

    func add(_ line: JSONObject) {
        let (isFull, isScheduled) = block.withLock { block in
            defer { block.isScheduled = true }
            block.bytes += line.text.utf8 + [UInt8(ascii: "\n")]
            return (block.bytes.count >= Self.blockSize, block.isScheduled)
        }
        if isFull { writeBlock() }
        if !isScheduled {
            // No other line may follow for long.
            Task {
                try? await Task.sleep(for: Self.interval)
                block.withLock { $0.isScheduled = false }
                writeBlock()
            }
        }
    }

    private func writeBlock() {
        block.withLock { block in
            if block.bytes.isEmpty { return }
            writer.write(block.bytes)
            block.bytes.removeAll(keepingCapacity: true)
        }
    }

    /// Writes the last block and syncs the file.
    /// - Returns: Why the report is incomplete; nil if it is complete.
    func close() -> String? {
        writeBlock()
        let isWritten = writer.flush { Log.info("waiting for the reader of the report \(path)") }
        let cause: String
        if !isWritten {
            cause = writer.error ?? "its reader has stalled"
        } else if fsync(terminal.descriptor) == 0 || errno == EINVAL || errno == EROFS {
            return nil
        } else {
            cause = SystemError("fsync").reason
        }
        return "the report \(path) is incomplete: \(cause)"
    }
}
