import CommandSupport
import Foundation
import Platform
import Synchronization
import Testing

@testable import MusicFolder

/// Real processes that end as a hostile file would end them.
@Suite struct TagLaneTests {
    /// The format of an answer for printf(1), which has one text: the title of the album.
    static let answer: String = {
        var tags = AudioTags()
        tags.album = "%s"
        return line(TagAnswer(tags: tags))
    }()

    /// A message as bash has it, with its line feed.
    static func line(_ message: some TagMessage) -> String {
        String(decoding: TagLine.bytes(message).dropLast(), as: UTF8.self) + #"\n"#
    }

    /// A command of bash that puts a path of the request `$line` into a variable of its name.
    static func extract(_ name: String) -> String {
        "pattern='\"\(name)\":\"([^\"]*)\"'; [[ $line =~ $pattern ]]; \(name)=${BASH_REMATCH[1]}"
    }

    /// A worker that greets, then reads paths: `crash` ends it by SIGSEGV, `hang` stops it from answering, `exit` ends it with 7, others are
    /// their album's title.
    private static let script = """
        echo
        while IFS= read -r line; do
            \(extract("path"))
            case $path in
                crash) kill -SEGV $$ ;;
                hang) exec sleep 1000 ;;
                exit) exit 7 ;;
                *) printf '\(answer)' "$path" ;;
            esac
        done
        """

    /// A worker that runs a script of bash after its greeting.
    static func worker(_ script: String) -> TagWorkerProcess.Start {
        Starts().process(["bash", "-c", "echo\n" + script])
    }

    private final class Starts: Sendable {
        let count = Mutex(0)

        func process(_ words: [String]) -> TagWorkerProcess.Start {
            { input, output in
                self.count.withLock { $0 += 1 }
                let child = try ChildProcess(
                    words, input: input, output: output, errors: STDERR_FILENO, hasOwnGroup: true)
                return TagWorkerProcess(kill: { child.send(SIGKILL) }, wait: { child.wait().status })
            }
        }
    }

    /// Reads on a thread that blocks SIGPIPE, as a scan does.
    private func read(
        _ paths: [String], _ words: [String] = ["bash", "-c", Self.script], starts: Starts = Starts(),
        timeout: Duration = .seconds(60)
    ) async throws -> [String] {
        let start = starts.process(words)
        let results = await WorkThread.run {
            Result { try TagLane(start: start, timeout: timeout).read(paths.map { BytePath($0) }) }
        }
        return try results.get().map { result in
            switch result {
            case .success(let tags): tags.album
            case .failure(let failure): "\(failure.reason)\(failure.isTransient ? " (now)" : "")"
            }
        }
    }

    @Test func `thousands of files are answered in order by one worker`() async throws {
        let starts = Starts()
        let paths = (0..<5_000).map { "album \($0) \(String(repeating: "x", count: $0 % 300))" }
        #expect(try await read(paths, starts: starts) == paths)
        #expect(starts.count.withLock { $0 } == 1)
    }

    @Test func `a crash costs its file, and a new worker goes on with the next`() async throws {
        let starts = Starts()
        let found = try await read(["a", "crash", "b", "exit", "c", "crash"], starts: starts)
        #expect(
            found == [
                "a", "crashed its parser (signal 11)", "b", "ended its parser (exit code 7)", "c",
                "crashed its parser (signal 11)",
            ])
        #expect(starts.count.withLock { $0 } == 3)
    }

    @Test func `a worker that hangs is killed, and costs its file`() async throws {
        let found = try await read(["a", "hang", "b"], timeout: .seconds(1))
        #expect(found == ["a", "took longer than 1 s (now)", "b"])
    }

    @Test(arguments: [["false"], ["no-such-program"], ["bash", "-c", "exec sleep 1000"]])
    func `a worker that never becomes ready is an error, not a file's`(words: [String]) async throws {
        await #expect(throws: TagLane.Unavailable.self) {
            _ = try await read(["a"], words, timeout: .milliseconds(200))
        }
    }
}
