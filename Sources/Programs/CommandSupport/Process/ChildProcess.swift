import CLinux
package import Platform
import Synchronization

/// A program that this one starts, and whose cost it measures.
package struct ChildProcess: Sendable {
    package let pid: Int32

    /// How a process ended, and what it cost.
    package struct Exit: Sendable {
        /// The exit code; 128+N if signal N ended it.
        package var status: Int32
        /// CPU time of the process and of the children that it waited for, in seconds.
        package var cpu: Double
        /// Peak resident memory in bytes. Never less than this process had when it started the child: the kernel counts that.
        package var memory: Int
    }

    /// Starts a program with the default signal state and no other descriptors than its standard ones.
    /// - Parameters:
    ///   - words: the program, which is looked up in `PATH`, and its arguments.
    ///   - environment: its environment; nil for this process's.
    ///   - directory: its working directory; nil for this process's.
    ///   - input: the descriptor that becomes its stdin; nil for the null device.
    ///   - output: the descriptor that becomes its stdout.
    ///   - errors: the descriptor that becomes its stderr.
    ///   - hasOwnGroup: whether it leads a new process group, which a terminal's signals do not reach.
    ///   - inheritsIgnored: whether a SIGHUP, SIGINT or SIGQUIT that is ignored stays so, as under nohup(1).
    package init(
        _ words: [String], environment: [String: String]? = nil, in directory: String? = nil, input: Int32? = nil,
        output: Int32, errors: Int32, hasOwnGroup: Bool = false, inheritsIgnored: Bool = true
    ) throws(SystemError) {
        #if os(Linux)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        if let directory { posix_spawn_file_actions_addchdir_np(&actions, directory) }
        // A library may have opened others without FD_CLOEXEC.
        #if os(Linux)
            posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        #endif
        // The thread that starts it blocks all signals.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        for signal in [SIGHUP, SIGINT, SIGQUIT] where inheritsIgnored && Signals.isIgnored(signal) {
            sigdelset(&all, signal)
        }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let group = hasOwnGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | group)
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] } ?? []
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        errno =
            environment == nil
            ? posix_spawnp(&pid, words[0], &actions, &attributes, arguments, environ)
            : posix_spawnp(&pid, words[0], &actions, &attributes, arguments, variables)
        guard errno == 0 else { throw SystemError("start", path: words[0]) }
        self.pid = pid
    }

    /// Waits for the end of the process. Call it once.
    package func wait() -> Exit {
        var (word, usage) = (Int32(0), rusage())
        while wait4(pid, &word, 0, &usage) < 0, errno == EINTR {}
        let signal = word & 0x7F
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        #if os(Linux)
            let memory = usage.ru_maxrss * 1_024
        #else
            let memory = usage.ru_maxrss
        #endif
        return Exit(
            status: signal == 0 ? (word >> 8) & 0xFF : 128 + signal,
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), memory: memory)
    }

    /// Sends a signal. Call it before `wait` returns only: the id may belong to another process afterwards.
    package func send(_ signal: Int32) { _ = kill(pid, signal) }
}

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
}

/// The environment variables of the process.
package enum Environment {
    /// The value of a variable; nil if it is unset or empty.
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The cache directory without `--cache`; nil if no variable is set.
    package static var cacheDirectory: String? { path("SLEEVE_CACHE", "XDG_CACHE_HOME", ".cache", "sleeve") }

    /// The library file without `--library`; nil if no variable is set.
    package static var libraryFile: String? {
        path("SLEEVE_LIBRARY", "XDG_DATA_HOME", ".local/share", "sleeve/albums.json")
    }

    /// Where requests to services with a rate are counted, for all libraries of the user; nil if no variable is set.
    package static var requestsFile: String? {
        path("SLEEVE_REQUESTS", "XDG_STATE_HOME", ".local/state", "sleeve/requests.sqlite3")
    }

    /// The value of `variable`, else `name` in a base directory of the XDG specification; nil if no variable is set.
    private static func path(_ variable: String, _ base: String, _ underHome: String, _ name: String) -> String? {
        if let path = value(variable) { return path }
        // The XDG specification requires ignoring relative paths.
        if let folder = value(base), folder.hasPrefix("/") { return "\(folder)/\(name)" }
        return value("HOME").map { "\($0)/\(underHome)/\(name)" }
    }
}
