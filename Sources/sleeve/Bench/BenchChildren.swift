import Platform
import Synchronization

/// The running children of a bench. A signal handler stops them from another thread.
final class BenchChildren: Sendable {
    private struct State {
        var running: [pid_t: ChildProcess] = [:]
        var isStopped = false
    }
    private let state = Mutex(State())

    /// No other child may be started.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Interrupts the children, and those that are started later.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            for child in state.running.values { child.send(SIGINT) }
        }
    }

    func start(
        _ words: [String], in directory: String? = nil, output: Int32, errors: Int32
    ) throws(SystemError) -> ChildProcess {
        let child = try ChildProcess(words, in: directory, output: output, errors: errors)
        state.withLock { state in
            state.running[child.pid] = child
            if state.isStopped { child.send(SIGINT) }
        }
        return child
    }

    /// Waits for the end of a child.
    func wait(for child: ChildProcess) -> ChildProcess.Exit {
        // Its id is free when it is reaped: under the lock, so that `stop` does not send a signal to another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(child.pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            state.running[child.pid] = nil
            return child.wait()
        }
    }
}
