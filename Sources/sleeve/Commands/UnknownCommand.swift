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

    /// The most similar command; nil if more than one letter and more than a third of the word's letters differ.
    private var suggestion: String? {
        let near = known.map { (name: $0, distance: Self.distance(Array(word.lowercased()), Array($0))) }
            .min { $0.distance < $1.distance }
        return near.flatMap { $0.distance <= max(1, word.count / 3) ? $0.name : nil }
    }

    /// The optimal string alignment distance: the number of insertions, deletions, replacements and swaps of neighbours that
    /// turn one word into the other.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var (before, last) = ([Int](), Array(0...second.count))
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            (before, last) = (last, current)
        }
        return last[second.count]
    }
}
