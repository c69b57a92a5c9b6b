import AlbumLibrary
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
