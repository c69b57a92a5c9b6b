/// Wraps the usage of a command, which ArgumentParser prints as one line.
enum UsageText {
    private static let prefixes = ["USAGE: ", "Usage: "]

    /// - Parameters:
    ///   - message: the text of a help screen or of an error. Only its usage changes.
    ///   - width: in columns.
    static func wrapped(_ message: String, to width: Int) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let prefix = prefixes.first(where: line.hasPrefix), line.count > width else { return String(line) }
            return wrapped(line, to: width, indent: prefix.count + 2)
        }.joined(separator: "\n")
    }

    private static func wrapped(_ line: Substring, to width: Int, indent: Int) -> String {
        var lines: [String] = []
        var current = ""
        for part in parts(of: line) {
            if !current.isEmpty, current.count + 1 + part.count > width {
                lines.append(current)
                current = String(repeating: " ", count: indent) + part
            } else {
                current += (current.isEmpty ? "" : " ") + part
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// Words, and options with their brackets and values: `[--size <size>]`, `--to <size>`.
    private static func parts(of line: Substring) -> [String] {
        var parts: [String] = []
        var (depth, isOption) = (0, false)
        for word in line.split(separator: " ") {
            if depth > 0 || isOption && word.hasPrefix("<") {
                parts[parts.count - 1] += " " + word
            } else {
                parts.append(String(word))
            }
            isOption = depth == 0 && word.hasPrefix("--")
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return parts
    }
}
