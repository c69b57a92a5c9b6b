import ArgumentParser
import Logging

/// The log levels of swift-log that an option can set.
enum LogLevel: String, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error
    static let allValueStrings = ["trace", "debug", "info", "notice", "warning", "error"]
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}
