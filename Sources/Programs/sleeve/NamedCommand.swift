import ArgumentParser
import Platform

/// The command that arguments name.
struct NamedCommand {
    /// Nil if the arguments name none, or only a group of commands.
    private(set) var type: (any ParsableCommand.Type)?
    /// Its whole name, or that of the last group that is named.
    private(set) var name = "sleeve"
    /// The arguments after the name.
    private(set) var rest: [String]
    private var subcommands = Sleeve.configuration.subcommands

    init(_ arguments: [String]) {
        rest = arguments
        while let word = rest.first, let command = subcommands.first(where: { $0.configuration.commandName == word }) {
            rest.removeFirst()
            name += " \(word)"
            subcommands = command.configuration.subcommands
            // `fill` is a command, and a group of commands.
            type = subcommands.isEmpty || command == FillCommand.self ? command : nil
        }
    }

    /// The unknown word in a command's place, with the commands that were most likely meant; nil if there is no such word. The first folder
    /// of `fill` is in the place of a subcommand.
    var problem: String? {
        guard let word = rest.first, !word.hasPrefix("-"), type == nil || !subcommands.isEmpty else { return nil }
        if word == "help", type == nil {
            return NamedCommand(name.split(separator: " ").dropFirst().map(String.init) + rest.dropFirst()).problem
        }
        var meant = Self.nearest(to: word, among: Self.names(subcommands, below: name), \.last).map(\.path)
        if type != nil {
            if word == "help" { meant = ["sleeve help fill"] }
            if meant.isEmpty || FileManager.default.fileExists(atPath: word) { return nil }
            return "There is no folder '\(word)'.\(Self.question(meant))"
        }
        // A command of another group is meant only by its whole name.
        if meant.isEmpty {
            meant = Self.names(Sleeve.configuration.subcommands, below: "sleeve").filter { $0.last == word }.map(\.path)
        }
        return "Unknown command '\(word)'.\(Self.question(meant))"
    }

    /// The message about an unknown option, with the one that was meant, even if help leaves that out: the parser suggests none of those.
    func suggesting(_ message: String) -> String {
        guard let type, let unknown = message.firstMatch(of: #/^Unknown option '(--[^']+)'/#) else { return message }
        let options = type.helpMessage(includeHidden: true).split(separator: "\n").filter { $0.hasPrefix("  -") }
            .flatMap { $0.matches(of: #/--[a-z][a-z0-9-]*/#).map { String($0.0) } }
        let meant = Self.nearest(to: String(unknown.1), among: options, \.self).prefix(1)
        // Not the parser's own guess, which may have nothing in common with the option.
        return "\(unknown.0)" + (meant.isEmpty ? "" : ".") + Self.question(Array(meant))
    }

    /// The last line of a help screen that leaves out options; else empty.
    static func hint(_ help: String, _ arguments: [String]) -> String {
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        guard help.hasPrefix("OVERVIEW: "), !arguments.contains("--help-hidden"), let type = Self(words).type,
            type.helpMessage(includeHidden: true) != type.helpMessage()
        else { return "" }
        return (help.hasSuffix("\n") ? "\n" : "\n\n") + "  --help-hidden lists more options, for experts."
    }

    private typealias Name = (path: String, last: String)

    /// The names of commands, and of those below them.
    private static func names(_ commands: [any ParsableCommand.Type], below name: String) -> [Name] {
        var names: [Name] = []
        for configuration in commands.map({ $0.configuration }) where configuration.shouldDisplay {
            let last = configuration.commandName ?? ""
            names.append(("\(name) \(last)", last))
            names += Self.names(configuration.subcommands, below: "\(name) \(last)")
        }
        return names
    }

    /// What is nearest to a mistyped word: at most two letters are inserted or removed.
    private static func nearest<Name>(to word: String, among names: [Name], _ text: (Name) -> String) -> [Name] {
        let near = names.map { ($0, Array(text($0)).difference(from: Array(word.lowercased())).count) }
        let least = near.map(\.1).min() ?? .max
        return least < 3 ? near.filter { $0.1 == least }.map(\.0) : []
    }

    private static func question(_ meant: [String]) -> String {
        meant.isEmpty ? "" : " Did you mean \(meant.map { "'\($0)'" }.joined(separator: " or "))?"
    }
}
