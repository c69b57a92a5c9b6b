import CoverLibrary
import Logging
import Synchronization

/// Writes messages to stderr: a line of text, or a JSON object for log collectors.
enum Log {
    private static let isJSON = Atomic(false)

    /// Writes JSON from now on.
    static func useJSON() { isJSON.store(true, ordering: .relaxed) }

    /// Whether stderr can show a progress line that is rewritten in place.
    static var isLive: Bool { Terminal.standardError.isInteractive && !isJSON.load(ordering: .relaxed) }

    static func info(_ message: String) { say(.info, message) }
    static func warning(_ message: String) { say(.warning, message) }
    static func error(_ message: String) { say(.error, message) }

    static func say(_ level: Logger.Level, _ message: String) {
        let message = Secrets.hidden(in: message).withoutControls
        guard isJSON.load(ordering: .relaxed) else {
            // Debug and trace messages, which an option enables, are marked.
            let kind = level == .debug || level == .trace ? "\(level): " : ""
            // Clears the progress line, which is drawn again below the message.
            Terminal.standardError.write((isLive ? "\r\u{1B}[K" : "") + "sleeve: \(kind)\(message)\n")
            return
        }
        var line = JSONObject()
        line.add("time", timestamp(Int64(secondsSince1970() * 1_000)))
        line.add("level", level.rawValue)
        line.add("message", message)
        Terminal.standardError.write(line.text + "\n")
    }
}
