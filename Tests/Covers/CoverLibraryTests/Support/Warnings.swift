import Logging
import Synchronization

/// What a library logs as a warning or worse.
final class Warnings: LogHandler {
    let messages = Mutex<[String]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .warning }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    func log(event: LogEvent) { messages.withLock { $0.append("\(event.message)") } }
}
