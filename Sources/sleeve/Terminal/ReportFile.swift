import CoverLibrary
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The report: one JSON line per cover. Lines are written in blocks, or every second where they are few, each after the
/// commit that makes it true.
final class ReportFile: Sendable {
    private static let block = 32 << 10
    private static let patience = Duration.seconds(1)
    private let path: String
    private let terminal: Terminal
    private let gathered = Mutex(Gathered())

    private struct Gathered {
        var bytes: [UInt8] = []
        var isBroken = false
        var written = ContinuousClock.now
    }

    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw fail("cannot write the report \(path): \(String(cString: strerror(errno)))")
        }
        terminal = Terminal(descriptor: descriptor)
    }

    func add(_ outcome: CoverOutcome) {
        var line = JSONObject()
        line.add("url", Secrets.hidden(in: outcome.url))
        line.add("outcome", outcome.kind.rawValue)
        line.add("digest", outcome.digest)
        line.add("bytes", outcome.bytes)
        line.add("milliseconds", raw: Decimals.text(outcome.milliseconds, 3))
        line.add("error", outcome.failure?.detail)
        gathered.withLock { gathered in
            gathered.bytes += line.text.utf8 + [UInt8(ascii: "\n")]
            let now = ContinuousClock.now
            guard gathered.bytes.count >= Self.block || gathered.written + Self.patience <= now else { return }
            if !terminal.write(gathered.bytes) { gathered.isBroken = true }
            gathered.bytes.removeAll(keepingCapacity: true)
            gathered.written = now
        }
    }

    func close() throws {
        let isWritten = gathered.withLock { !$0.isBroken && terminal.write($0.bytes) }
        guard isWritten, fsync(terminal.descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw fail("the report \(path) could not be written to its end: \(String(cString: strerror(errno)))")
        }
    }
}
