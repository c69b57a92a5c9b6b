package import ArgumentParser

/// The exit codes of the command-line contract.
package enum ExitStatus {
    package static let couldNotRun = ExitCode(1)
    package static let someFailed = ExitCode(3)
    package static let tryLater = ExitCode(75)
    package static func stopped(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}

/// Writes an error to stderr, in one line. - Returns: The exit code to throw.
package func fail(_ message: String, _ code: ExitCode = ExitStatus.couldNotRun) -> ExitCode {
    Log.error(message)
    return code
}

/// Ends a command that a signal has stopped. - Throws: The exit code.
package func stopIfSignalled() throws {
    if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
}
