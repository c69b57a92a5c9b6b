// Every command has to do with albums or lists of them.
@_exported public import AlbumLibrary
import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import OriginServer
import Platform
import Synchronization

/// Every command states its name: deriving it from the type's costs each start of the program two milliseconds.
@main
struct Sleeve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleeve",
        abstract: "Download album covers in bulk, keep them on disk, use them offline.",
        discussion: """
            Begin with:
              sleeve fill ~/Music           a cover beside the music of each album
              sleeve audit ~/Music          the albums whose cover is missing or bad
              sleeve why "Low Tide"         where a cover was looked for
              sleeve prefetch albums.json   download the covers of a list
              sleeve refresh                check cached covers for changes
              sleeve get URL -o cover.jpg   one cover, from the cache if it is there
              sleeve export DIR --size 300  covers as files, small ones, for players
              sleeve album list             your library; add, delete, undo and more
              sleeve serve                  your library in a browser
              sleeve cache stats            the cache; make room, pin, carry elsewhere

            `sleeve help COMMAND` explains a command and its options.

            Exit codes: 0 success, 1 nothing could be done, 3 a part could not be done, 64 wrong usage, 75 another refresh \
            or fill is running, 128+N stopped by signal N.
            """,
        version: LibraryAPI.version,
        subcommands: [
            FillCommand.self, AuditCommand.self, Why.self, Prefetch.self, Refresh.self, Get.self, Export.self,
            AlbumCommand.self, Serve.self, CacheCommand.self, BenchCommand.self, OriginCommand.self, TagsWorker.self,
        ])

    static func main() async {
        openClosedDescriptors()
        Signals.endFirstProcess()
        #if os(Linux)
            // Swift's runtime reads the arguments there. Without them, this would be a request for help.
            if access("/proc/self/cmdline", R_OK) != 0 { exit(withError: fail("/proc cannot be read; mount it")) }
        #endif
        let arguments = Array(CommandLine.arguments.dropFirst())
        runningCommand.withLock { $0 = String(NamedCommand(arguments).name.dropFirst("sleeve ".count)) }
        do {
            var command = try await parse(arguments)
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            end(reported(error), arguments)
        }
    }

    /// Parses the arguments. Of the time of a short command, the parser takes most if it has all commands, so it first gets only the
    /// one that is named. What is no valid use of it (an error, a request for help) goes to the whole tree, which has the texts.
    ///
    /// Each command states the name of the one above it. The parser then does not look for options of the whole program either.
    static func parse(_ arguments: [String]) async throws -> any ParsableCommand {
        let named = NamedCommand(arguments)
        if let problem = named.problem { throw ValidationError(problem) }
        if let type = named.type {
            if let command = try? type.parseAsRoot(named.rest), Swift.type(of: command) == type { return command }
            let isOfFill = FillGroup.configuration.subcommands.contains { $0 == type }
            return try await isOfFill ? FillTree.asyncParseAsRoot(arguments) : asyncParseAsRoot(arguments)
        }
        return try await asyncParseAsRoot(arguments)
    }

    /// Ends the process with the exit code of an error, or of a request for help, and its text.
    private static func end(_ error: any Error, _ arguments: [String]) -> Never {
        let code = exitCode(for: error)
        let output = code.isSuccess ? Terminal.standardOutput : Terminal.standardError
        output.write(text(of: error, arguments, width: output.width))
        exit(withError: code)
    }

    /// What is written of an error, or of a request for help. That of wrong usage says what is wrong, what the option that has no valid
    /// value is for, and where the help is.
    /// - Parameter width: of help, in columns.
    static func text(of error: any Error, _ arguments: [String], width: Int) -> String {
        let code = exitCode(for: error)
        if code.isSuccess {
            let help = UsageText.shortened(fullMessage(for: error, columns: width), to: width)
            return help.isEmpty ? "" : help + NamedCommand.hint(help, arguments) + "\n"
        }
        let problem = UsageText.line(message(for: error))
        if problem.isEmpty { return "" }
        let named = NamedCommand(arguments)
        // Usage errors repeat arguments.
        var text = Redaction.redact("Error: \(named.suggesting(problem))") + "\n"
        if let help = UsageText.optionHelp(fullMessage(for: error)) {
            text += "  \(help)\n"
        } else if let option = UsageText.option(of: problem), let type = named.type,
            let help = UsageText.help(of: option, in: type.helpMessage(includeHidden: true, columns: 10_000))
        {
            // ArgumentParser says nothing of an option that help leaves out.
            text += "  \(help)\n"
        }
        if code == .validationFailure { text += "  See '\(named.name) --help'.\n" }
        return text
    }
}

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

/// Opens those of the descriptors 0, 1 and 2 that are closed on `/dev/null`. Otherwise a socket, the index or a cover's file would get their
/// numbers, and messages and results would be written into it.
///
/// They are opened in the contrary direction, so that reading stdin and writing stdout still fail with EBADF: a result that
/// was lost is an error, as on a full device.
private func openClosedDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
        // open(2) returns the lowest free number, which is this one: those below it are open.
        _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

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

/// What the parser ends the process with: for an error of another room its message is printed here, and the exit code returned.
func reported(_ error: any Error) -> any Error {
    switch error {
    case let error as LibraryError: fail(error.message)
    case let error as CoverFailure: fail(error.message)
    case let error as SystemError: fail("cannot \(error)")
    case is MusicState.Problem, is TagLane.Unavailable, is SourceMemoryError, is OriginError: fail("\(error)")
    default: error
    }
}
