import CommandSupport
import Logging

/// Writes the library's log messages to stderr in the form of the command's own messages.
struct StderrLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { Log.write(event.level, "\(event.message)") }
}
