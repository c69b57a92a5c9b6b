import CommandSupport
package import Foundation
import Platform
import Synchronization

/// The result of a process.
package struct RunResult: Sendable, CustomStringConvertible {
    /// The exit code; -1 when a signal ended it.
    package var status: Int32
    /// The signal that ended it, if one did.
    package var signal: Int32?
    /// The bytes it wrote to stdout.
    package var output: [UInt8]
    package var stderr: String

    package var stdout: String { String(decoding: output, as: UTF8.self) }
    package var description: String {
        "status \(status), signal \(signal ?? 0)\nstdout: \(stdout.prefix(4_000))\nstderr: \(stderr.prefix(4_000))"
    }
}

/// Runs the built `sleeve` until it ends.
package func run(
    _ arguments: [String], stdin: Child.Input = .nothing, environment: [String: String]
) async throws -> RunResult {
    try await Child(sleeveBinary, arguments, stdin: stdin, environment: environment).exit()
}

/// The commands under test, in the directory of the running test bundle.
package let sleeveBinary = binaries + "/sleeve"
package let labBinary = binaries + "/sleeve-lab"

/// The top of the repository.
package let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized

private let binaries: String = {
    #if os(Linux)
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    #else
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
    #endif
    return (bundle as NSString).deletingLastPathComponent
}()

/// A running process. It is killed when the last reference is released, or when the test that waits for it is cancelled.
package final class Child: Sendable {
    package enum Input: Sendable {
        /// `/dev/null`.
        case nothing
        case text(String)
        /// A pipe that `send` writes to and `closeInput` closes.
        case open
    }

    package struct Failure: Error {
        var reason: String

        package init(reason: String) { self.reason = reason }
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var input: Int32?
        var result: RunResult?
        var lineWaiters: [CheckedContinuation<String?, Never>] = []
        var exitWaiters: [@Sendable (RunResult) -> Void] = []

        var firstLine: String? {
            output.firstIndex(of: UInt8(ascii: "\n")).map { String(decoding: output[..<$0], as: UTF8.self) }
        }
    }

    /// Not a part of `Child`, so that the reading thread does not retain the child.
    private final class Box: Sendable {
        let state = Mutex(State())
    }

    private let box = Box()
    package let pid: pid_t

    package init(
        _ program: String, _ arguments: [String], stdin: Input = .nothing, environment: [String: String]
    ) throws {
        _ = ignoresBrokenPipes
        // Under a lock: no other child may inherit the pipe before FD_CLOEXEC is set.
        spawning.lock()
        defer { spawning.unlock() }
        let output = try Pipe()
        let errors = try Pipe()
        var input: Pipe?
        let readEnd: Int32
        if case .nothing = stdin {
            readEnd = open("/dev/null", O_RDONLY | O_CLOEXEC)
        } else {
            let pipe = try Pipe()
            input = pipe
            readEnd = pipe.reading
        }
        pid = try ChildProcess(
            [program] + arguments, environment: environment, input: readEnd, output: output.writing,
            errors: errors.writing, inheritsIgnored: false
        ).pid
        for descriptor in [readEnd, output.writing, errors.writing] { close(descriptor) }
        if let input {
            box.state.withLock { $0.input = input.writing }
            if case .text(let text) = stdin { sendInBackground(Array(text.utf8)) }
        }
        let (box, pid) = (box, pid)
        Thread.detachNewThread { Self.follow(pid, output.reading, errors.reading, box) }
    }

    deinit {
        kill(SIGKILL)
        closeInput()
    }

    package func kill(_ signal: Int32) {
        // A result means that the process was reaped, and its id may be reused.
        box.state.withLock { if $0.result == nil { _ = systemKill(pid, signal) } }
    }

    package func send(_ text: String) {
        guard let input = box.state.withLock({ $0.input }) else { return }
        _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: input) }
    }

    package func closeInput() {
        if let input = box.state.withLock({ $0.input.take() }) { close(input) }
    }

    private func sendInBackground(_ bytes: [UInt8]) {
        let box = box
        Thread.detachNewThread {
            guard let input = box.state.withLock({ $0.input.take() }) else { return }
            _ = bytes.withUnsafeBytes { writeAll($0, to: input) }
            close(input)
        }
    }

    /// Returns when the process is stopped or has ended. - Returns: whether it is stopped.
    package func stops() async -> Bool {
        let pid = pid
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var information = siginfo_t()
                var result: Int32
                repeat {
                    result = waitid(P_PID, id_t(pid), &information, WSTOPPED | WEXITED | WNOWAIT)
                } while result != 0 && errno == EINTR
                continuation.resume(returning: result == 0 && information.si_code == CLD_STOPPED)
            }
        }
    }

    /// Returns when the process has ended and its output was read.
    package func exit() async -> RunResult {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                whenEnded { continuation.resume(returning: $0) }
            }
        } onCancel: {
            kill(SIGKILL)
        }
    }

    /// Calls `body` at the end of the process, or immediately if it has ended. Does not retain the child.
    package func whenEnded(_ body: @escaping @Sendable (RunResult) -> Void) {
        let result = box.state.withLock { state -> RunResult? in
            if state.result == nil { state.exitWaiters.append(body) }
            return state.result
        }
        if let result { body(result) }
    }

    package var isRunning: Bool { box.state.withLock { $0.result == nil } }

    /// Its stderr so far.
    package var errors: String { box.state.withLock { String(decoding: $0.errors, as: UTF8.self) } }

    /// The first line on stdout, as soon as it arrives; nil if the process ends without one.
    package func firstOutputLine() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isKnown, line) = box.state.withLock { state -> (Bool, String?) in
                    let line = state.firstLine
                    if line == nil, state.result == nil {
                        state.lineWaiters.append(continuation)
                        return (false, nil)
                    }
                    return (true, line)
                }
                if isKnown { continuation.resume(returning: line) }
            }
        } onCancel: {
            kill(SIGKILL)
        }
    }

    /// Reads both pipes to their ends, then reaps the process. Runs on a new thread.
    private static func follow(_ pid: pid_t, _ output: Int32, _ errors: Int32, _ box: Box) {
        var watched = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while watched.contains(where: { $0.fd >= 0 }) {
            guard poll(&watched, 2, -1) > 0 else { continue }
            for index in 0..<2 where watched[index].fd >= 0 && watched[index].revents != 0 {
                let count = read(watched[index].fd, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 {
                    close(watched[index].fd)
                    watched[index].fd = -1
                    continue
                }
                let (waiters, line) = box.state.withLock { state -> ([CheckedContinuation<String?, Never>], String?) in
                    if index == 0 { state.output += chunk[..<count] } else { state.errors += chunk[..<count] }
                    guard let line = state.firstLine else { return ([], nil) }
                    defer { state.lineWaiters = [] }
                    return (state.lineWaiters, line)
                }
                for waiter in waiters { waiter.resume(returning: line) }
            }
        }
        reap(pid, box)
    }

    private static func reap(_ pid: pid_t, _ box: Box) {
        // Waits without reaping, then reaps under the lock, so that `kill` never gets a reused process id.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (result, state) = box.state.withLock { state -> (RunResult, State) in
            var word: Int32 = 0
            while waitpid(pid, &word, 0) < 0, errno == EINTR {}
            let signal = word & 0x7F
            let result = RunResult(
                status: signal == 0 ? (word >> 8) & 0xFF : -1, signal: signal == 0 ? nil : signal,
                output: state.output, stderr: String(decoding: state.errors, as: UTF8.self))
            let before = state
            state.result = result
            (state.lineWaiters, state.exitWaiters) = ([], [])
            return (result, before)
        }
        for waiter in state.lineWaiters { waiter.resume(returning: state.firstLine) }
        for waiter in state.exitWaiters { waiter(result) }
    }
}

// MARK: The system

/// A child that stops reading must not end the tests.
private let ignoresBrokenPipes: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return true
}()

private let spawning = NSLock()

private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Child.Failure(reason: "pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}

/// `kill`, whose name the method has taken.
private func systemKill(_ pid: pid_t, _ signal: Int32) -> Int32 { kill(pid, signal) }
