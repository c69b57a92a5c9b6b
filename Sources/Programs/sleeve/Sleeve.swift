import ArgumentParser
import CommandSupport
import CoverLibrary
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
        StandardDescriptors.openClosed()
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
