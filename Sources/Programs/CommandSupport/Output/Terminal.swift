package import AlbumLibrary
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

    /// Writes all bytes. - Returns: False, with `errno` set, if the reader is gone or the device is full.
    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
}

/// Writes a line to stdout in which nothing of a name or a path can be taken for another line. - Throws: An exit code, after an error message.
package func printLine(_ text: String) throws { try printResult(text.withoutControls + "\n") }

/// Writes an object to stdout, on a line of its own. - Throws: An exit code, after an error message.
package func printJSON(_ object: JSONObject) throws { try printResult(object.text + "\n") }

/// Writes a command's result to stdout. - Throws: An exit code, after an error message.
package func printResult(_ result: String) throws {
    // On a terminal, earlier messages stand above the result.
    Log.flush()
    guard Terminal.standardOutput.write(result) else {
        throw fail("cannot write the result to stdout: \(SystemError("write").reason)")
    }
}
