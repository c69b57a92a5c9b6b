/// The usage of a command, which ArgumentParser prints as one line of all options.
enum UsageText {
    /// - Parameters:
    ///   - message: the text of a help screen or of an error. Only its usage changes.
    ///   - width: in columns. A usage that is longer names the arguments, and the options that are needed.
    static func shortened(_ message: String, to width: Int) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isUsage = ["USAGE: ", "Usage: "].contains(where: line.hasPrefix)
            guard isUsage, line.count > width else { return String(line) }
            return line.replacing(#/ \[-[^\]]*\]/#, with: "") + " [<options>]"
        }.joined(separator: "\n")
    }
}
