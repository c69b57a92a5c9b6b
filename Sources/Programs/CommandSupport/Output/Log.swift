import AlbumLibrary
import Dispatch
package import Logging
import Platform
import Synchronization

/// Messages on stderr: a line of text, or a JSON object for a log collector. A separate thread writes them, so that a
/// stalled stderr blocks nothing. Messages beyond a backlog limit are dropped and counted.
package enum Log {
    private static let isJSON = Atomic(false)
    private static let dropped = Atomic(0)
    private static let minimum = Mutex(Logger.Level.trace)
    /// Maximum number of bytes that wait for stderr.
    private static let maximumBacklog = 1 << 20

    private static let writer: BackgroundWriter = {
        atexit { Log.flush() }
        return BackgroundWriter(.standardError)
    }()

    /// Selects JSON for all later messages.
    package static func useJSON() { isJSON.store(true, ordering: .relaxed) }

    /// Drops all later messages that are less severe.
    package static func drop(below level: Logger.Level) { minimum.withLock { $0 = level } }

    /// Whether stderr can show a progress line that is redrawn in place.
    package static var isLive: Bool { Terminal.standardError.obeysEscapes && !isJSON.load(ordering: .relaxed) }

    package static func info(_ message: String) { write(.info, message) }
    package static func warning(_ message: String) { write(.warning, message) }
    package static func error(_ message: String) { write(.error, message) }

    package static func write(_ level: Logger.Level, _ message: String) {
        guard level >= minimum.withLock({ $0 }) else { return }
        if writer.backlog > maximumBacklog {
            dropped.add(1, ordering: .relaxed)
            return
        }
        let missing = dropped.exchange(0, ordering: .relaxed)
        if missing > 0 { enqueue(.warning, "\(Decimals.grouped(missing)) messages dropped: stderr was not read") }
        enqueue(level, message)
    }

    private static func enqueue(_ level: Logger.Level, _ message: String) {
        let message = Redaction.redact(Advice.naming(message)).withoutControls
        guard isJSON.load(ordering: .relaxed) else {
            let prefix = "sleeve: " + (level <= .debug ? "\(level): " : "")
            let color: Terminal.Color? = level < .warning ? nil : level < .error ? .warning : .failure
            let colored = color.map { Terminal.standardError.text(prefix, in: $0) } ?? prefix
            // The message replaces the progress line, which is drawn again below it.
            return writer.write(((isLive ? clearedLine : "") + "\(colored)\(message)\n").utf8)
        }
        let line: JSONObject = [
            "time": Date().ISO8601Format(), "level": level.rawValue, "message": message,
        ]
        writer.write((line.text + "\n").utf8)
    }

    private static let clearedLine = "\r\u{1B}[K"

    /// Redraws the progress line; an empty text removes it. Does nothing while stderr is not read.
    package static func live(_ text: String) {
        guard writer.backlog == 0 || text.isEmpty else { return }
        writer.write((clearedLine + text.prefix(Terminal.standardError.width - 1)).utf8)
    }

    /// Waits until every message is written.
    package static func flush() { _ = writer.flush() }
}

/// Writes to a descriptor from a separate thread: a stalled reader, such as a pipe that is not read, blocks neither
/// transfers nor Swift's thread pool. The thread starts with the first write.
package final class BackgroundWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// The number of bytes that the current write(2) has not finished.
        var writing = 0
        /// `errno` of a failed write. Later writes are discarded.
        var error: Int32?
        var hasThread = false
        /// The number of finished writes.
        var writes = 0
        var flushers: [DispatchSemaphore] = []
    }

    /// A reader that reads nothing for this long has stalled.
    private static let stallTime = DispatchTimeInterval.seconds(1)

    private let terminal: Terminal
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    package init(_ terminal: Terminal) { self.terminal = terminal }

    /// The number of bytes that are not written yet.
    package var backlog: Int { state.withLock { $0.pending.count + $0.writing } }

    /// The system's text for a failed write; nil if none failed.
    package var error: String? { state.withLock { $0.error }.map { String(cString: strerror($0)) } }

    /// Queues the bytes without waiting.
    package func write(_ bytes: some Sequence<UInt8>) {
        let mustStart = state.withLock { state in
            if state.error != nil { return false }
            state.pending += bytes
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if mustStart { WorkThread.start { [self] in run() } }
        wake.signal()
    }

    private func run() {
        while true {
            wake.wait()
            let bytes = state.withLock { state in
                defer { state.pending = [] }
                state.writing = state.pending.count
                return state.pending
            }
            let error: Int32? = bytes.isEmpty || terminal.write(bytes) ? nil : errno
            let flushers = state.withLock { state in
                if error != nil { (state.error, state.pending) = (error, []) }
                state.writing = 0
                state.writes += 1
                guard state.pending.isEmpty else { return [DispatchSemaphore]() }
                defer { state.flushers = [] }
                return state.flushers
            }
            for flusher in flushers { flusher.signal() }
        }
    }

    /// Waits until everything is written. After a signal it does not wait for a stalled reader.
    /// - Parameter stalled: Called once if the reader stalls.
    /// - Returns: Whether everything was written.
    package func flush(stalled: () -> Void = {}) -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isDone = state.withLock { state in
            if state.pending.isEmpty, state.writing == 0 { return true }
            state.flushers.append(done)
            return false
        }
        if isDone { return error == nil }
        var (writes, isReported) = (state.withLock { $0.writes }, false)
        while done.wait(timeout: .now() + Self.stallTime) == .timedOut {
            let now = state.withLock { $0.writes }
            defer { writes = now }
            guard now == writes else { continue }
            if Signals.received != nil { return false }
            if !isReported { stalled() }
            isReported = true
        }
        return error == nil
    }
}

/// The options and commands that do what a message of the library advises. The library names none, as other programs have others.
enum Advice {
    private static let table = [
        ("choose another directory", "--cache"), ("choose a new or an empty directory", "--cache"),
        ("raise the capacity", "--capacity"),
        ("raise the maximum size", "--max-size"),
        ("is not trusted", "--cacert FILE trusts other authorities"),
        ("redirected from https to http", "--allow-downgrade follows it"),
        ("repair the cache", "`sleeve cache verify --repair`"), ("evict all covers", "`sleeve cache evict --to 0`"),
    ]

    /// The message with each of them behind what it does.
    static func naming(_ message: String) -> String {
        table.reduce(message) { text, entry in
            guard let range = text.firstRange(of: entry.0) else { return text }
            var text = text
            text.insert(contentsOf: " (\(entry.1))", at: range.upperBound)
            return text
        }
    }
}
