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
        abstract: "Download album covers in bulk, keep them verified on disk, use them offline.",
        discussion: """
            Covers are stored once each, however many URLs lead to them, in a cache of limited size. A cover that a prefetch \
            has reported is on the disk and survives power loss.

            Begin with:
              sleeve fill ~/Music                a cover beside the music of each album without one
              sleeve prefetch albums.json        download the covers of a list
              sleeve refresh                     check cached covers for changes
              sleeve get URL -o cover.jpg        one cover, from the cache if it is there
              sleeve album list                  your library; add, delete, undo and more
              sleeve serve                       your library in a browser
              sleeve stats                       the size of the cache and its hit rate
              sleeve pin URL                     keep a cover: pinned ones are never evicted
              sleeve pack covers.tar             all covers in one file, for `sleeve unpack` on another machine
              sleeve export DIR                  the covers of your albums as files, for media servers

            `sleeve help COMMAND` explains a command and its options.

            Exit codes: 0 success, 1 nothing could be done, 3 a part could not be done, 64 wrong usage, 75 another refresh \
            is running on this cache, 128+N stopped by signal N.
            """,
        version: LibraryAPI.version,
        subcommands: [
            FillCommand.self, Scan.self, Prefetch.self, Refresh.self, Get.self, Export.self, AuditCommand.self,
            Why.self,
            AlbumCommand.self, Serve.self,
            List.self, Stats.self, Verify.self, Evict.self, Pin.self, Unpin.self, Remove.self, Pack.self, Unpack.self,
            Push.self,
            OriginCommand.self, BenchCommand.self, TagsWorker.self,
        ])

    static func main() async {
        StandardDescriptors.openClosed()
        let words = words(ofCommand: Array(CommandLine.arguments.dropFirst()))
        runningCommand.withLock { $0 = words.joined(separator: " ") }
        do {
            var command = try await parse(Array(CommandLine.arguments.dropFirst()))
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            end(reported(error))
        }
    }

    /// Parses the arguments. Of the time of a short command, the parser takes most if it has all commands, so it first gets only the
    /// one that is named. What is no valid use of it (an error, a request for help) goes to the whole tree, which has the texts.
    ///
    /// Each command states the name of the one above it. The parser then does not look for options of the whole program either.
    static func parse(_ arguments: [String]) async throws -> any ParsableCommand {
        let (named, rest) = leaf(arguments[...])
        if let named, let command = try? named.parseAsRoot(Array(rest)), type(of: command) == named { return command }
        let isOfFill = named.map { command in FillGroup.configuration.subcommands.contains { $0 == command } }
        return try await isOfFill == true ? FillTree.asyncParseAsRoot(arguments) : asyncParseAsRoot(arguments)
    }

    /// The command that the first arguments name, and the arguments after it; nil if they name none, or only a group of commands.
    private static func leaf(
        _ arguments: ArraySlice<String>
    ) -> (command: (any ParsableCommand.Type)?, rest: ArraySlice<String>) {
        var (subcommands, rest) = (configuration.subcommands, arguments)
        var named: (any ParsableCommand.Type)?
        while let name = rest.first, let command = subcommands.first(where: { $0.configuration.commandName == name }) {
            rest.removeFirst()
            subcommands = command.configuration.subcommands
            // `fill` is a command, and a group of commands.
            named = subcommands.isEmpty || command == FillCommand.self ? command : nil
        }
        return (named, rest)
    }

    /// Those of the arguments that name the command: `prefetch`, or `album` and `show`.
    static func words(ofCommand arguments: [String]) -> [String] {
        var (words, subcommands) = ([String](), configuration.subcommands)
        for word in arguments {
            guard let command = subcommands.first(where: { $0.configuration.commandName == word }) else { break }
            words.append(word)
            subcommands = command.configuration.subcommands
        }
        return words
    }

    /// Ends the process with the message and the exit code of an error or of a request for help.
    private static func end(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        let output = code.isSuccess ? Terminal.standardOutput : .standardError
        // Usage errors repeat arguments.
        let message = code.isSuccess ? fullMessage(for: error) : Redaction.redact(fullMessage(for: error))
        if !message.isEmpty { output.write(UsageText.shortened(message, to: output.width) + "\n") }
        exit(withError: code)
    }
}
