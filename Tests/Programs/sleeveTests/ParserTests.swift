import ArgumentParser
import Foundation
import SleeveStage
import Testing

@testable import sleeve

/// `Sleeve.parse` gives the parser the named command alone. These tests compare it with the parser that has all of them.
@Suite struct ParserTests {
    /// The result of a parser: the command with its options, or the text that ends the process.
    private func result(_ parse: () async throws -> any ParsableCommand) async -> String {
        do {
            let command = try await parse()
            // A request for help is a command that throws the text.
            if type(of: command) == Sleeve.self || "\(type(of: command))" == "HelpCommand" {
                var command = command
                try command.run()
            }
            return "\(type(of: command)): \(command)"
        } catch {
            return "\(Sleeve.exitCode(for: error).rawValue): \(Sleeve.fullMessage(for: error))"
        }
    }

    /// The arguments that name each command.
    private static let commands: [[String]] = Sleeve.configuration.subcommands.flatMap { command in
        let path = [command.configuration.commandName ?? ""]
        let subcommands = command.configuration.subcommands
        return subcommands.isEmpty ? [path] : subcommands.map { path + [$0.configuration.commandName ?? ""] }
    }

    @Test func `every command states the name of the one above it`() {
        func check(_ command: any ParsableCommand.Type, _ name: String) {
            for subcommand in command.configuration.subcommands {
                let configuration = subcommand.configuration
                // A command with subcommands is never parsed alone.
                if configuration.subcommands.isEmpty {
                    #expect(configuration._superCommandName == name, "\(subcommand)")
                }
                check(subcommand, "\(name) \(configuration.commandName ?? "")")
            }
        }
        check(Sleeve.self, "sleeve")
    }

    @Test(arguments: [
        ["get", "--offline", "http://a/1", "-o", "x"], ["get", "http://a/1", "--cache=c", "--retries", "2", "-q"],
        ["prefetch", "a", "b", "--parallel", "3", "--rate", "0.5", "--max-size", "1M", "--log-level", "debug"],
        ["prefetch", "--", "--offline"], ["refresh", "--jsonl"], ["album", "list"], ["album", "delete", "3", "4"],
        ["album", "add", "--title", "Low Tide", "--cover-url", "https://a/1"], ["cache", "stats"],
        ["cache", "evict", "--to", "5G"],
        ["fill", "a", "--embed"], ["fill"],
    ])
    func `a command has the options that it has in the whole tree`(arguments: [String]) async {
        let alone = await result { try await Sleeve.parse(arguments) }
        #expect(await result { try await Sleeve.asyncParseAsRoot(arguments) } == alone)
        #expect(alone.first { !$0.isLetter } == ":" && alone.first?.isLetter == true, "\(alone)")
    }

    @Test func `a command that this one starts gets the options of requests that this one was given`() throws {
        let words = [
            "--contact=me@example.org", "--offline", "--parallel=9", "--per-host=3", "--rate=0.5", "--timeout=2.5",
            "--retries=1", "--user-agent=Sleeve (me)", "--max-size=1048576", "--cacert=a b.pem", "--allow-downgrade",
            "--deny-private", "--ipv4", "--http1.1",
        ]
        #expect(try NetworkOptions.parse(words).words == words)
        #expect(try NetworkOptions.parse(["--ipv6"]).words == ["--ipv6"])
        #expect(try NetworkOptions.parse(["--timeout", "2m"]).words == ["--timeout=120.0"])
        #expect(throws: (any Error).self) { try NetworkOptions.parse(["--ipv4", "--ipv6"]) }
        #expect(try NetworkOptions.parse([]).words.isEmpty)
    }

    @Test(
        arguments: commands,
        [["--help"], ["--no-such"], ["--version"], ["--experimental-dump-help"], ["a", "b", "c"]])
    func `help and errors are those of the whole tree, with the command's whole name`(
        command: [String], rest: [String]
    ) async {
        let alone = await result { try await Sleeve.parse(command + rest) }
        // In the tree of all commands, the subcommands of `fill` are names of folders.
        let isOfFill = command.first == "fill" && command.count > 1
        let whole = await result {
            try await isOfFill ? FillTree.asyncParseAsRoot(command + rest) : Sleeve.asyncParseAsRoot(command + rest)
        }
        #expect(whole == alone)
        let name = "sleeve \(command.joined(separator: " "))"
        if rest == ["--help"] { #expect(alone.contains("USAGE: \(name)")) }
        if rest == ["--no-such"] { #expect(alone.contains("See '\(name) --help'"), "\(alone)") }
    }

    private struct Dump: Decodable {
        struct Command: Decodable { let arguments: [Argument] }
        struct Argument: Decodable { let names: [Name]? }
        struct Name: Decodable, Hashable { let kind, name: String }

        let command: Command
    }

    /// The parser checks this itself in builds for debugging alone.
    @Test(arguments: commands) func `a command has no two options of one name`(command: [String]) async throws {
        let json = await result { try await Sleeve.parse(command + ["--experimental-dump-help"]) }.drop { $0 != "{" }
        let dump = try JSONDecoder().decode(Dump.self, from: Data(json.utf8))
        let names = dump.command.arguments.flatMap { $0.names ?? [] }
        #expect(!names.isEmpty && Set(names).count == names.count)
    }

    @Test(arguments: [
        [], ["--help"], ["help"], ["help", "get"], ["help", "album", "add"], ["album"], ["album", "--help"],
        ["--version"], ["--no-such"], ["get", "--generate-completion-script", "bash"],
        ["--experimental-dump-help"],
        ["---completion", "get", "--", "--cache", "0", "0"], ["-q", "get", "http://a/1"],
        ["album", "-q", "list"],
    ])
    func `arguments that name no command are the whole tree's`(arguments: [String]) async {
        let alone = await result { try await Sleeve.parse(arguments) }
        #expect(await result { try await Sleeve.asyncParseAsRoot(arguments) } == alone)
    }

    /// Arguments, the word that is no command, and the commands that were meant.
    private static let mistyped: [(arguments: [String], word: String, meant: [String])] = [
        (["preftch"], "preftch", ["prefetch"]), (["Get", "http://a/1"], "Get", ["get"]),
        (["stats"], "stats", ["cache stats"]), (["scan", "m"], "scan", ["album scan"]),
        (["list"], "list", ["album list", "cache list"]), (["album", "lst"], "lst", ["album list"]),
        (["cache", "verfiy", "--repair"], "verfiy", ["cache verify"]), (["cache", "get"], "get", ["get"]),
        (["cache", "undo"], "undo", ["fill undo", "album undo"]), (["nonsense"], "nonsense", []),
        (["help", "fil"], "fil", ["fill"]), (["help", "album", "lst"], "lst", ["album list"]),
        (["album", "help", "lst"], "lst", ["album list"]), (["help", "x"], "x", []),
    ]

    @Test(arguments: mistyped)
    func `a word in a command's place that is none brings the commands that were meant`(
        arguments: [String], word: String, meant: [String]
    ) {
        let names = meant.map { "'sleeve \($0)'" }.joined(separator: " or ")
        let hint = meant.isEmpty ? "" : " Did you mean \(names)?"
        #expect(NamedCommand(arguments).problem == "Unknown command '\(word)'.\(hint)")
    }

    @Test(arguments: [("reviwe", "fill review"), ("und", "fill undo"), ("help", "help fill")])
    func `a folder of fill that is not there is taken for a subcommand of a name like it`(word: String, meant: String) {
        #expect(
            NamedCommand(["fill", word]).problem == "There is no folder '\(word)'. Did you mean 'sleeve \(meant)'?")
    }

    @Test(arguments: [
        [], ["--no-such"], ["help"], ["help", "get", "x"], ["cache"], ["fill", "x"], ["fill", "review"],
        ["album", "-q"],
        ["get", "x"],
    ])
    func `other words are no unknown command`(arguments: [String]) {
        #expect(NamedCommand(arguments).problem == nil)
    }

    @Test(arguments: [
        (["get", "--help"], true), (["help", "get"], true), (["get", "--help-hidden"], false), (["--help"], false),
        (["cache", "--help"], false), (["album", "undo", "-h"], true),
    ])
    func `help that leaves out options says so at its end`(arguments: [String], isSaid: Bool) {
        let hint = NamedCommand.hint("OVERVIEW: X\n", arguments)
        #expect(hint == (isSaid ? "\n  --help-hidden lists more options, for experts." : ""))
        #expect(NamedCommand.hint("0.1.0", arguments).isEmpty)
    }

    @Test func `messages, help and articles name commands that there are`() throws {
        let files = ["Sources", "Scripts", "README.md"].flatMap { name -> [URL] in
            let place = repository.appending(path: name)
            let below = try? FileManager.default.subpathsOfDirectory(atPath: place.path())
            return below.map { $0.map { place.appending(path: $0) } } ?? [place]
        }
        for file in files where ["swift", "md", "service", "py", ""].contains(file.pathExtension) {
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for name in text.matches(of: #/`sleeve ([a-z][^`\n]*)/#) where !name.1.hasSuffix(" COMMAND") {
                let words = name.1.split(separator: " ").map(String.init)
                #expect(NamedCommand(words).problem == nil, "\(file.path()): \(name.0)")
            }
        }
    }
}
