import CoverLibrary
import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Messages on stderr: a line for a person, or a JSON object for a log collector. They are written by a thread of its own, so
/// that a stalled stderr stops nothing; past a limit messages are dropped and counted.
enum Log {
    private static let isJSON = Atomic(false)
    private static let dropped = Atomic(0)
    /// Bytes that may wait for stderr.
    private static let maximumBacklog = 1 << 20

    private static let writer: BackgroundWriter = {
        atexit { Log.flush() }
        return BackgroundWriter(.standardError)
    }()

    /// Writes JSON from now on.
    static func useJSON() { isJSON.store(true, ordering: .relaxed) }

    /// Whether stderr can show a progress line that is rewritten in place.
    static var isLive: Bool { Terminal.standardError.isInteractive && !isJSON.load(ordering: .relaxed) }

    static func info(_ message: String) { say(.info, message) }
    static func warning(_ message: String) { say(.warning, message) }
    static func error(_ message: String) { say(.error, message) }

    static func say(_ level: Logger.Level, _ message: String) {
        if writer.backlog > maximumBacklog {
            dropped.add(1, ordering: .relaxed)
            return
        }
        let missing = dropped.exchange(0, ordering: .relaxed)
        if missing > 0 { write(.warning, "\(Decimals.grouped(missing)) messages dropped: stderr was not read") }
        write(level, message)
    }

    private static func write(_ level: Logger.Level, _ message: String) {
        let message = Redaction.redact( message).withoutControls
        guard isJSON.load(ordering: .relaxed) else {
            // Debug and trace messages, which an option enables, are marked.
            let kind = level == .debug || level == .trace ? "\(level): " : ""
            // Clears the progress line, which is drawn again below the message.
            return writer.write(((isLive ? clearedLine : "") + "sleeve: \(kind)\(message)\n").utf8)
        }
        var line = JSONObject()
        line.add("time", timestamp(Int64(secondsSince1970() * 1_000)))
        line.add("level", level.rawValue)
        line.add("message", message)
        writer.write((line.text + "\n").utf8)
    }

    private static let clearedLine = "\r\u{1B}[K"

    /// Rewrites the live line; an empty text removes it. Skipped while stderr is not read.
    static func live(_ text: String) {
        guard writer.backlog == 0 || text.isEmpty else { return }
        writer.write((clearedLine + text.prefix(Terminal.standardError.width - 1)).utf8)
    }

    /// Waits until every message is written.
    static func flush() { _ = writer.flush() }
}
