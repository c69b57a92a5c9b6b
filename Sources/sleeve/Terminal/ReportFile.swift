import CoverLibrary
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The report: one JSON line per cover. Lines are written in blocks, or every second where they are few, each after the
/// commit that makes it true. A reader that stalls slows the reading of the list, never a transfer.
final class ReportFile: Sendable {
    private static let block = 32 << 10
    private static let interval = Duration.seconds(1)
    /// Bytes that may wait for the reader before no more of the list is read.
    private static let maximumBacklog = 16 << 20
    private let path: String
    private let terminal: Terminal
    private let writer: BackgroundWriter
    private let gathered = Mutex(Gathered())

    private struct Gathered {
        var bytes: [UInt8] = []
        var written = ContinuousClock.now
    }

    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw fail("cannot write the report \(path): \(String(cString: strerror(errno)))")
        }
        terminal = Terminal(descriptor: descriptor)
        writer = BackgroundWriter(terminal)
    }

    /// Returns when the reader has taken enough for more lines to follow, or the task is cancelled.
    func ready() async {
        while writer.backlog > Self.maximumBacklog, (try? await Task.sleep(for: .milliseconds(20))) != nil {}
    }

    func add(_ outcome: CoverOutcome) {
        var line = JSONObject()
        line.add("url", Redaction.redact( outcome.url))
        line.add("outcome", outcome.kind.rawValue)
        line.add("digest", outcome.digest)
        line.add("bytes", outcome.bytes)
        line.add("milliseconds", raw: Decimals.text(outcome.milliseconds, 3))
        line.add("error", outcome.failure?.detail)
        gathered.withLock { gathered in
            gathered.bytes += line.text.utf8 + [UInt8(ascii: "\n")]
            let now = ContinuousClock.now
            guard gathered.bytes.count >= Self.block || gathered.written + Self.interval <= now else { return }
            writer.write(gathered.bytes)
            gathered.bytes.removeAll(keepingCapacity: true)
            gathered.written = now
        }
    }

    /// Writes what is left.
    /// - Returns: why the report is not whole; nil: it is.
    func close() -> String? {
        writer.write(gathered.withLock { $0.bytes })
        let isWritten = writer.flush { Log.info("waiting for the reader of the report \(path)") }
        let cause: String
        if !isWritten {
            cause = writer.error ?? "its reader has stalled"
        } else if fsync(terminal.descriptor) == 0 || errno == EINVAL || errno == EROFS {
            return nil
        } else {
            cause = String(cString: strerror(errno))
        }
        return "the report \(path) could not be written to its end: \(cause)"
    }
}
