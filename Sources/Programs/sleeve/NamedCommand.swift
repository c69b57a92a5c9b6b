import ArgumentParser

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

    /// The unknown word in a command's place, with the commands that were most likely meant; nil if there is no such word.
    var problem: String? {
        guard type == nil, let word = rest.first, !word.hasPrefix("-"), word != "help" else { return nil }
        let near = Self.names(subcommands, below: name).map { ($0, Self.distance(word, $0.last)) }
        let least = near.map(\.1).min() ?? .max
        var found = least < 3 ? near.filter { $0.1 == least }.map(\.0) : []
        // A command of another group is meant only by its whole name.
        if found.isEmpty {
            found = Self.names(Sleeve.configuration.subcommands, below: "sleeve").filter { $0.last == word }
        }
        let hint = found.isEmpty ? "" : " Did you mean \(found.map { "'\($0.path)'" }.joined(separator: " or "))?"
        return "Unknown command '\(word)'.\(hint)"
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

    /// The letters that are to be inserted and removed.
    private static func distance(_ word: String, _ name: String) -> Int {
        Array(name).difference(from: Array(word.lowercased())).count
    }
}
