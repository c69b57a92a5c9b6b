import CommandSupport
import CoverLibrary
import Platform
import Synchronization

/// The words that name the running command, such as `album show`.
let runningCommand = Mutex("")

/// What a command prints with `--json` at its end: the keys of its result, and those that every command has. The article Output lists the keys.
private struct ResultJSON<Result: Encodable>: Encodable {
    private enum CodingKeys: CodingKey { case schema, command }

    let result: Result

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        // It rises when a key goes or gets another meaning; a new key leaves it as it is.
        try container.encode(1, forKey: .schema)
        try container.encode(runningCommand.withLock { $0 }, forKey: .command)
        try result.encode(to: encoder)
    }
}

/// Prints a command's result as one JSON object on one line. - Throws: An exit code, after an error message.
func printJSON(_ result: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    try printResult(String(decoding: try encoder.encode(ResultJSON(result: result)), as: UTF8.self) + "\n")
}

/// A cover in the result of a command.
struct CoverResult: Encodable {
    /// Nil for the file beside an album's music.
    private let url: String?
    private let digest, type: String
    private let bytes: Int
    /// Nil if the image's header does not say.
    private let width, height: Int?
    private let stale: Bool
    /// Of the file that has the cover; nil if none was asked for, or has it.
    private let path: String?

    init(_ cover: Cover, path: String?) {
        url = cover.url.isFileURL ? nil : cover.key
        (digest, type, bytes) = (cover.digest, cover.mediaType, cover.data.count)
        (width, height, stale, self.path) = (cover.width, cover.height, cover.isStale, path)
    }
}

/// Prints messages of one kind: the first ones as they come, one a line, and at the end the number of the others.
final class MessageList: Sendable {
    private static let limit = 20
    private let added = Atomic(0)
    private let noun: String
    private let plural: String
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - noun: What each message is about.
    ///   - plural: Of `noun`, if it is not formed with an s.
    init(
        _ noun: String = "failure", _ plural: String? = nil,
        by write: @escaping @Sendable (String) -> Void = { Log.warning($0) }
    ) {
        (self.noun, self.plural, self.write) = (noun, plural ?? noun + "s", write)
    }

    /// Prints messages that are all known.
    func print(_ messages: [String], _ rest: String = "") {
        for message in messages { add(message) }
        end(rest)
    }

    var count: Int { added.load(ordering: .relaxed) }

    func add(_ failure: CoverFailure) { add(failure.url.isEmpty ? failure.detail : failure.message) }

    func add(_ message: String) {
        if added.add(1, ordering: .relaxed).oldValue < Self.limit { write(message) }
    }

    /// Prints how many were not printed. - Parameter rest: What is said of them, such as where they are listed.
    func end(_ rest: String = "") {
        guard count > Self.limit else { return }
        write("… and \(Decimals.count(count - Self.limit, "more " + noun, "more " + plural))\(rest)")
    }
}
