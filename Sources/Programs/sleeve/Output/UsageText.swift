/// The texts of ArgumentParser, as this program prints them.
enum UsageText {
    /// The usage of a command, which ArgumentParser prints as one line of all options.
    /// - Parameters:
    ///   - message: the text of a help screen. Only its usage changes.
    ///   - width: in columns. A usage that is longer names the arguments, and the options that are needed.
    static func shortened(_ message: String, to width: Int) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("USAGE: "), line.count > width else { return String(line) }
            return line.replacing(#/ \[-[^\]]*\]/#, with: "") + " [<options>]"
        }.joined(separator: "\n")
    }

    /// The help of the option or argument whose value is missing or invalid, on one line.
    /// - Parameter message: The whole text of a usage error.
    static func optionHelp(_ message: String) -> String? {
        let prefix = "Help:  "
        return message.split(separator: "\n").first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// The option whose value is missing or invalid. - Parameter problem: a usage error on one line.
    static func option(of problem: String) -> String? {
        problem.firstMatch(of: #/(?:^Missing value|is invalid) for '(--[^' ]+)/#).map { String($0.1) }
    }

    /// The help of an option on one line.
    /// - Parameter text: a help screen whose lines are not wrapped. A long name has its help in the next line.
    static func help(of option: String, in text: String) -> String? {
        let lines = text.split(separator: "\n")
        guard let index = lines.firstIndex(where: { $0.hasPrefix("  \(option) ") }) else { return nil }
        let rest = lines.dropFirst(index + 1).first.flatMap { $0.hasPrefix("      ") ? $0 : nil } ?? ""
        return String(lines[index].dropFirst(2) + rest).replacing(#/ {2,}/#, with: "  ")
    }

    /// An error message on one line.
    static func line(_ message: String) -> String {
        message.replacing("\n  - ", with: " ").split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }
            .joined(separator: " ")
    }
}
