import ArgumentParser
import Foundation
import SleeveStage
import Testing

@testable import sleeve

extension CommandTests {
    @Suite struct HelpTests {
        private static let record = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Help.txt")

        @Test func `the help of every command is as recorded`() async throws {
            var help = ""
            var commands: [[String]] = [[]]
            while !commands.isEmpty {
                let command = commands.removeFirst()
                let text = try await self.help(command + ["--help"])
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                #expect(lines.allSatisfy { $0.count <= 80 }, "\(command)")
                #expect(
                    lines.dropLast().count <= (command == ["fill"] ? 70 : 90), "\(command): \(lines.count) lines")
                #expect(!text.contains("Default:"), "\(command): said as “(default: …)”")
                let wrapped = zip(lines, lines.dropFirst()).filter { $0.0.hasPrefix("  sleeve ") }.map(\.1)
                #expect(wrapped.allSatisfy { $0.isEmpty || $0.hasPrefix("  ") }, "\(command)")
                help += "$ \((["sleeve"] + command + ["--help"]).joined(separator: " "))\n\(text)\n"
                commands += subcommands(text).map { command + [$0] }
            }
            if ProcessInfo.processInfo.environment["SLEEVE_RENEW_HELP"] != nil {
                try Data(help.utf8).write(to: Self.record)
            }
            let recorded = String(decoding: try Data(contentsOf: Self.record), as: UTF8.self)
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
            let difference = lines.difference(
                from: recorded.split(separator: "\n", omittingEmptySubsequences: false))
            #expect(difference.isEmpty, "SLEEVE_RENEW_HELP=1 Scripts/test --filter HelpTests renews the record")
        }

        @Test func `a process writes the help to stdout, in 80 columns where there is no terminal`() async throws {
            try await withStage { stage in
                let arguments = ["cache", "pin", "--help"]
                let result = try await run(arguments, environment: stage.environment)
                #expect(result.status == 0 && result.stderr.isEmpty, "\(result)")
                #expect(try await help(arguments) == result.stdout)
            }
        }

        /// What a process would write to a terminal of 80 columns.
        private func help(_ arguments: [String]) async throws -> String {
            do {
                var command = try await Sleeve.parse(arguments)
                // The whole tree's help is a command, which throws the text.
                try command.run()
            } catch {
                try #require(Sleeve.exitCode(for: error).isSuccess, "\(arguments): \(error)")
                return Sleeve.text(of: error, arguments, width: 80)
            }
            throw Child.Failure(reason: "\(arguments) asks for no help")
        }

        /// The names in the list of subcommands.
        private func subcommands(_ help: String) -> [String] {
            guard let list = help.split(separator: "SUBCOMMANDS:\n", maxSplits: 1).dropFirst().first else { return [] }
            return list.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
                .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
                .map { String($0.dropFirst(2).prefix { $0 != " " }) }
        }
    }
}
