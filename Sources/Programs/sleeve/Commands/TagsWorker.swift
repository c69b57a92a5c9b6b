import ArgumentParser
import CommandSupport
import MusicFolder
import Platform

/// The process that reads tags for `sleeve album scan` and copies files for `sleeve fill --embed`. Its input is untrusted: it is a process of its own so that it may crash.
struct TagsWorker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags-worker", _superCommandName: "sleeve",
        abstract: "Read and write tags for `sleeve album scan` and `sleeve fill`.", shouldDisplay: false)

    /// Bytes that a worker may allocate. Pictures of 100 MB are read several times over.
    private static let memory = 1 << 30
    /// Seconds in which a worker ends itself, if the scan that waits for it has ended.
    private static let lifetime: UInt32 = 60

    func run() throws {
        let worker = TagWorker(memoryLimit: Self.memory, lifetime: Self.lifetime)
        if !worker.run(input: STDIN_FILENO, output: STDOUT_FILENO) { throw ExitStatus.couldNotRun }
    }

    /// Starts this program as a worker.
    static func starter() throws -> TagWorkerProcess.Start {
        let program = try Program.path
        return { input, output in
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { if null >= 0 { close(null) } }
            // In a process group of its own: Ctrl-C stops the scan, which ends its workers. A crash needs no backtrace.
            var environment = ProcessInfo.processInfo.environment
            environment["SWIFT_BACKTRACE"] = "enable=no"
            let child = try ChildProcess(
                [program, "tags-worker"], environment: environment, input: input, output: output,
                errors: null >= 0 ? null : STDERR_FILENO, hasOwnGroup: true)
            return TagWorkerProcess(kill: { child.send(SIGKILL) }, wait: { child.wait().status })
        }
    }
}
