import CommandSupport
import Platform
import Synchronization

/// The words that name the running command, such as `album show`.
let runningCommand = Mutex("")

/// What a command prints with `--json` at its end: the keys of its result, and those that every command has. The article Output lists the keys.
private struct ResultJSON<Result: Encodable>: Encodable {
    private enum CodingKeys: CodingKey { case schema, command }

    /// It rises when a key goes or gets another meaning; a new key leaves it as it is.
    private static var schema: Int { 1 }
    let result: Result

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.schema, forKey: .schema)
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
