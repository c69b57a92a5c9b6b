package import Platform
import Synchronization

/// Why a command that runs other processes cannot go on.
package enum ChildError: Error {
    /// A signal arrived.
    case stopped
    case failed(String)
}

/// The running children of a command. A signal handler stops them from another thread.
package final class ChildProcesses: Sendable {
    private struct State {
        var running: [pid_t: ChildProcess] = [:]
        var isStopped = false
    }
    private let state = Mutex(State())
    private let haveOwnGroups: Bool

    /// - Parameter haveOwnGroups: Whether a terminal's Ctrl-C reaches only this process, and not its children.
    package init(haveOwnGroups: Bool = false) { self.haveOwnGroups = haveOwnGroups }

    /// No other child may be started.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Stops the children, and those that are started later.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for child in state.running.values { child.send(SIGTERM) }
        }
    }

    package func start(
        _ words: [String], in directory: String? = nil, output: Int32, errors: Int32
    ) throws(SystemError) -> ChildProcess {
        let child = try ChildProcess(
            words, in: directory, output: output, errors: errors, hasOwnGroup: haveOwnGroups)
        state.withLock { state in
            state.running[child.pid] = child
            if state.isStopped { child.send(SIGTERM) }
        }
        return child
    }

    /// Waits for the end of a child.
    package func wait(for child: ChildProcess) -> ChildProcess.Exit {
        // Its id is free when it is reaped: under the lock, so that `stop` does not send a signal to another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(child.pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            state.running[child.pid] = nil
            return child.wait()
        }
    }

    /// Waits for the end of a child, on a thread that may block.
    package func end(of child: ChildProcess) async -> ChildProcess.Exit {
        await WorkThread.run { self.wait(for: child) }
    }
}
