package import ArgumentParser
import Platform

/// A descriptor to write text to, such as stdout or stderr.
package struct Terminal: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    package static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    package static let standardError = Terminal(descriptor: STDERR_FILENO)

    /// Whether the descriptor is a terminal.
    package var isInteractive: Bool { isatty(descriptor) == 1 }

    /// The width in columns; 80 if it is unknown.
    package var width: Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The width to fit text into; nil for a file or a pipe, which gets whole lines.
    package var columns: Int? { isInteractive ? width : nil }

    /// Whether the terminal obeys escape sequences.
    package var obeysEscapes: Bool { isInteractive && Environment.value("TERM") != "dumb" }

    /// What a colour of text means. The raw value is the parameter of SGR (ECMA-48).
    package enum Color: Int {
        case failure = 31
        case warning = 33
    }

    /// The text in a colour, on a terminal; as it is with `$NO_COLOR` (https://no-color.org).
    package func text(_ text: String, in color: Color) -> String {
        guard obeysEscapes, Environment.value("NO_COLOR") == nil else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// Writes all bytes. - Returns: False, with `errno` set, if the reader is gone or the device is full.
    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
}

/// Writes a line to stdout in which nothing of a name or a path can be taken for another line. - Throws: An exit code, after an error message.
package func printLine(_ text: String) throws { try printResult(text.withoutControls + "\n") }

/// Writes a command's result to stdout. - Throws: An exit code, after an error message.
package func printResult(_ result: String) throws {
    // On a terminal, earlier messages stand above the result.
    Log.flush()
    guard Terminal.standardOutput.write(result) else {
        // Where SIGPIPE is ignored, as by commands that send requests, the command ends as elsewhere if its reader has enough.
        if errno == EPIPE { throw ExitStatus.stopped(by: SIGPIPE) }
        throw fail("cannot write the result to stdout: \(SystemError("write").reason)")
    }
}

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

/// Prints a server's address, waits for a signal, and stops the server.
/// - Parameter hint: A message for the user; nil with `--quiet`.
/// - Throws: The exit code.
package func serve(at url: String, hint: String?, stop: () async -> Void) async throws {
    let signals = Signals.stream()
    Log.flush()
    // Clients may know the address, and a server that was started with a closed stdout has no reader of it.
    if !Terminal.standardOutput.write("\(url)\n") {
        Log.warning("cannot write the address \(url) to stdout: \(SystemError("write").reason)")
    }
    if let hint { Log.info(hint) }
    let signal = await signals.first { _ in true } ?? 0
    await stop()
    throw ExitStatus.stopped(by: signal)
}

extension String {
    /// The text with control characters replaced. Lists and servers may send them, and a terminal would obey them.
    package var withoutControls: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.map { $0.isControl ? "\u{FFFD}" : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Includes the bidirectional controls (Unicode Standard Annex 9), which affect the text that follows.
    fileprivate var isControl: Bool {
        value < 0x20 || (value >= 0x7F && value < 0xA0) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F || value == 0x061C
    }
}
