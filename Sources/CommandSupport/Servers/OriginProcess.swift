import Platform

/// An origin on a free port of this machine, as a child process.
package struct OriginProcess: Sendable {
    /// Such as `http://127.0.0.1:40123`.
    package let url: String
    private let child: ChildProcess
    private let children: ChildProcesses
    /// The reading end of its stdout.
    private let output: Int32

    /// Starts it, and waits until it listens. Blocks.
    /// - Parameters:
    ///   - program: The path of `sleeve` or `sleeve-lab`.
    ///   - options: More options of its command `origin`.
    ///   - folder: Where its messages are kept.
    /// - Throws: `ChildError`, or `SystemError` if no process can be started.
    package init(program: String, options: [String], in folder: TemporaryFolder, _ children: ChildProcesses) throws {
        if children.isStopped { throw ChildError.stopped }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = Result<ChildProcess, any Error> {
            let errors = try folder.create("origin-errors")
            defer { close(errors) }
            return try children.start(
                [program, "origin", "--port", "0"] + options, output: ends[1], errors: errors)
        }
        close(ends[1])
        do {
            child = try started.get()
        } catch {
            close(ends[0])
            throw error
        }
        self.children = children
        output = ends[0]
        var (line, byte) = ([UInt8](), UInt8(0))
        while read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        url = String(decoding: line, as: UTF8.self)
        if line.isEmpty {
            stop()
            if children.isStopped { throw ChildError.stopped }
            let message = folder.text(of: "origin-errors").split(separator: "\n").first.map(String.init)
            throw ChildError.failed("the origin did not start\(message.map { ": \($0)" } ?? "")")
        }
    }

    /// Ends the process, and waits for its end. Call it once.
    package func stop() {
        children.send(SIGTERM, to: child)
        _ = children.wait(for: child)
        close(output)
    }
}
