#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where text goes: stdout or stderr.
struct Terminal: Sendable {
    let descriptor: Int32
    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    static let standardError = Terminal(descriptor: STDERR_FILENO)

    /// Whether a person is looking.
    var isInteractive: Bool { isatty(descriptor) == 1 }

    /// How many columns a line may have.
    var width: Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// False when nobody reads any more.
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
    /// With control characters, which a list or a server may have put into it, made visible: a terminal would obey them.
    var withoutControls: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.map { $0.isControl ? "\u{FFFD}" : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Also those that turn the direction of writing around (Unicode Standard Annex 9), which would reach beyond the text.
    fileprivate var isControl: Bool {
        value < 0x20 || (value >= 0x7F && value < 0xA0) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F || value == 0x061C
    }
}

/// `write`, whose name the methods have taken.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
