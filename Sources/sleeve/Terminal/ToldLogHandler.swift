import Logging

/// Tells what the library logs as the command tells everything else: a line on stderr that begins with the command's name.
struct ToldLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Log.say(event.level, "\(event.message)")
    }
}
