import Platform

/// The folders on which file systems are mounted.
enum MountPoints {
    /// Empty where the system has no list of them.
    static func all() -> [BytePath] {
        // proc(5): the fifth field, in which blanks and backslashes are octal.
        let lines = FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data()
        return lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            return fields.count > 5 ? BytePath(bytes: unescaped(fields[4])) : nil
        }
    }

    private static func unescaped(_ text: some Sequence<UInt8>) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Array(text)[...])
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest.removeFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
