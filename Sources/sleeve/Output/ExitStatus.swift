import ArgumentParser
import Platform

/// The exit codes of the command-line contract.
enum ExitStatus {
    static let couldNotRun = ExitCode(1)
    static let someFailed = ExitCode(3)
    static let tryLater = ExitCode(75)
    static func stopped(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}

/// Writes an error to stderr, in one line. - Returns: The exit code to throw.
func fail(_ message: String, _ code: ExitCode = ExitStatus.couldNotRun) -> ExitCode {
    Log.error(message)
    return code
}

/// Writes a command's result to stdout. - Throws: An exit code, after an error message.
func printResult(_ result: String) throws {
    // On a terminal, earlier messages stand above the result.
    Log.flush()
    guard Terminal.standardOutput.write(result) else {
        throw fail("cannot write the result to stdout: \(SystemError("write").reason)")
    }
}
