import ArgumentParser

/// The format of messages on stderr.
enum LogFormat: String, ExpressibleByArgument {
    case text, json
    static let allValueStrings = ["text", "json"]
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
