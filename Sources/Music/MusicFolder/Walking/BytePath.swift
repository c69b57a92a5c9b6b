import Platform

/// A path as the file system has it: bytes without NUL, in no particular encoding. Files are opened by these bytes.
package struct BytePath: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    private static let slash = UInt8(ascii: "/")

    /// The path of an entry of this folder.
    package func appending(_ name: [UInt8]) -> BytePath {
        BytePath(bytes: bytes.last == Self.slash ? bytes + name : bytes + [Self.slash] + name)
    }

    /// The last component.
    package var name: [UInt8] {
        Array(bytes[((bytes.lastIndex(of: Self.slash) ?? -1) + 1)...])
    }

    /// The folder that contains it; nil for `/` and for a name alone.
    package var parent: BytePath? {
        guard bytes.count > 1, let index = bytes.lastIndex(of: Self.slash) else { return nil }
        return BytePath(bytes: index == 0 ? [Self.slash] : Array(bytes[..<index]))
    }

    /// Whether it is `folder` or below it.
    package func isInside(_ folder: BytePath) -> Bool {
        if self == folder || folder.bytes == [Self.slash] { return true }
        return bytes.count > folder.bytes.count && bytes[folder.bytes.count] == Self.slash
            && bytes.starts(with: folder.bytes)
    }

    /// Whether it is one of the folders, or below one.
    func isInside(any folders: some Sequence<BytePath>) -> Bool { folders.contains { isInside($0) } }

    /// The path with all links resolved; nil, with `errno` set, if it leads to nothing.
    package var resolved: BytePath? {
        guard let path = withCString({ realpath($0, nil) }) else { return nil }
        defer { free(path) }
        return BytePath(bytes: Array(UnsafeRawBufferPointer(start: path, count: strlen(path))))
    }

    package func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try bytes.withCString(body)
    }
}

extension BytePath: Comparable {
    /// The order of the bytes, in which a folder comes before what it contains.
    package static func < (left: BytePath, right: BytePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension BytePath: CustomStringConvertible {
    /// The path for messages: what is no UTF-8 is replaced.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension BytePath: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        // "=" begins the hexadecimal form of a path that is no UTF-8. Stored paths are absolute or single names without "=" first.
        guard text.hasPrefix("=") else {
            self.init(text)
            return
        }
        var digits = text.utf8.dropFirst()
        var bytes: [UInt8] = []
        while let byte = Hexadecimal.byte(digits.prefix(2)) {
            bytes.append(byte)
            digits = digits.dropFirst(2)
        }
        self.init(bytes: bytes)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let text = String(validating: bytes, as: UTF8.self)
        if let text, !text.hasPrefix("=") { return try container.encode(text) }
        let digits = bytes.flatMap { [Hexadecimal.digit($0 >> 4), Hexadecimal.digit($0 & 15)] }
        try container.encode("=" + String(decoding: digits, as: UTF8.self))
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes and NUL after them.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        try (self + [0]).withUnsafeBytes { try body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
    }
}
