import ArgumentParser

/// An argument in the position of a command that names no command, with a suggestion.
///
/// ArgumentParser reports it as an unexpected argument, and `help WORD` ignores it.
struct UnknownCommand: CustomStringConvertible {
    /// The commands before the word, such as `sleeve album`.
    let parent: String
    let word: String
    let known: [String]

    /// Follows the arguments from command to subcommand. - Returns: Nil if every command exists.
    static func find(in arguments: ArraySlice<String>, of root: any ParsableCommand.Type) -> UnknownCommand? {
        var command = root
        var path = root.configuration.commandName ?? ""
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || word.hasPrefix("-") { return nil }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let known = subcommands.compactMap { $0.configuration.commandName }
                return UnknownCommand(parent: path, word: word, known: known)
            }
            command = next
            path += " " + word
        }
        return nil
    }

    var description: String {
        let hint = suggestion.map { "Did you mean ‘\($0)’?" } ?? "The commands are: \(known.joined(separator: ", "))."
        return "Unknown command ‘\(word.withoutControls)’. \(hint)\n  See '\(parent) --help' for more information."
    }

    /// The most similar command; nil if none is similar. A replaced letter counts as two edits, as do two swapped ones.
    private var suggestion: String? {
        let near = known.map { (name: $0, edits: word.lowercased().difference(from: $0).count) }.min {
            $0.edits < $1.edits
        }
        return near.flatMap { $0.edits <= max(2, word.count * 2 / 3) ? $0.name : nil }
    }
}
