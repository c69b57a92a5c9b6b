import CoverLibrary
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The report: one JSON line per cover. Lines are written in blocks, each after the commit that makes it true.
final class ReportFile: Sendable {
    private static let block = 32 << 10
    private let path: String
    private let terminal: Terminal
    private let gathered = Mutex<[UInt8]>([])

    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw fail("cannot write the report \(path): \(String(cString: strerror(errno)))")
        }
        terminal = Terminal(descriptor: descriptor)
    }

    func add(_ outcome: CoverOutcome) {
        var line = JSONLine()
        line.add("url", outcome.url)
        line.add("outcome", outcome.kind.rawValue)
        line.add("digest", outcome.digest)
        line.add("bytes", outcome.bytes)
        line.add("milliseconds", outcome.milliseconds, digits: 3)
        line.add("error", outcome.failure?.detail)
        gathered.withLock { gathered in
            gathered += line.text.utf8
            if gathered.count >= Self.block {
                terminal.write(gathered)
                gathered.removeAll(keepingCapacity: true)
            }
        }
    }

    func close() throws {
        let isWritten = gathered.withLock { terminal.write($0) }
        guard isWritten, fsync(terminal.descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw fail("the report \(path) could not be written to its end: \(String(cString: strerror(errno)))")
        }
    }
}
