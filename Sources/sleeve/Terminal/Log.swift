import CoverLibrary
import Logging
import Synchronization

/// What is told besides the result: a line on stderr for a person, or a JSON object for whatever collects logs.
enum Log {
    private static let isJSON = Atomic(false)

    /// From now on.
    static func useJSON() { isJSON.store(true, ordering: .relaxed) }

    /// Whether a line may be written that is rewritten again and again.
    static var isLive: Bool { Terminal.standardError.isInteractive && !isJSON.load(ordering: .relaxed) }

    static func info(_ message: String) { say(.info, message) }
    static func warning(_ message: String) { say(.warning, message) }
    static func error(_ message: String) { say(.error, message) }

    static func say(_ level: Logger.Level, _ message: String) {
        let message = Secrets.hidden(in: message).withoutControls
        guard isJSON.load(ordering: .relaxed) else {
            // What a person asked to be told of is marked; what everybody should know is not.
            let kind = level == .debug || level == .trace ? "\(level): " : ""
            // A live line is rewritten below it.
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
