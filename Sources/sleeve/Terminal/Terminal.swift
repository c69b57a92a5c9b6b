#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A stream to write text to: stdout or stderr.
struct Terminal: Sendable {
    let descriptor: Int32
    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    static let standardError = Terminal(descriptor: STDERR_FILENO)

    /// Whether it is a terminal.
    var isInteractive: Bool { isatty(descriptor) == 1 }

    /// The width in columns.
    var width: Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Writes all bytes. - Returns: false if the reader is gone or the device is full.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return false }
                written += count
            }
            return true
        }
    }
}

extension String {
    /// The text with control characters replaced: a list or a server may send them, and a terminal would obey them.
    var withoutControls: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.map { $0.isControl ? "\u{FFFD}" : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Includes the controls of writing direction (Unicode Standard Annex 9), whose effect reaches beyond the text.
    fileprivate var isControl: Bool {
        value < 0x20 || (value >= 0x7F && value < 0xA0) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F || value == 0x061C
    }
}

/// `write(2)`, whose name the methods above shadow.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
