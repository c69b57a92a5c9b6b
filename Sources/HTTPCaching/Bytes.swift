#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes of a text, valid while its `withUTF8` lasts. A refresh reads the fields of every entry of the cache: strings of their
/// own would cost it more than all the rest.
package typealias Bytes = UnsafeBufferPointer<UInt8>

extension UnsafeBufferPointer<UInt8> {
    @inline(__always)
    package func `is`(_ text: StaticString) -> Bool {
        guard let start = baseAddress, count == text.utf8CodeUnitCount else { return false }
        return memcmp(start, text.utf8Start, count) == 0
    }

    /// - Parameter text: in lower case. Letters outside ASCII have no case here.
    package func isInAnyCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && starts(with: text, Self.lower)
    }

    @inline(__always)
    package func starts(with text: StaticString, at start: Int = 0, _ form: (UInt8) -> UInt8 = lower) -> Bool {
        guard start + text.utf8CodeUnitCount <= count else { return false }
        for index in 0..<text.utf8CodeUnitCount where form(self[start + index]) != text.utf8Start[index] {
            return false
        }
        return true
    }

    package static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    package static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The part before the first `separator`, which goes with it; all of it when there is none.
    package mutating func take(before separator: UInt8) -> Bytes {
        let end = place(of: separator) ?? count
        defer { self = self[from: Swift.min(end + 1, count)] }
        return self[to: end]
    }

    /// Where `byte` is first.
    package func place(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(start).distance(to: found)
    }

    package subscript(from start: Int) -> Bytes { Bytes(rebasing: self[start...]) }
    package subscript(to end: Int) -> Bytes { Bytes(rebasing: self[..<end]) }

    /// Without white space at either end.
    package var trimmed: Bytes { self[from: firstIndex { !Self.isBlank($0) } ?? count].trimmedAtEnd }
    package var trimmedAtEnd: Bytes { self[to: (lastIndex { !Self.isBlank($0) } ?? -1) + 1] }

    package var string: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    package func withBytes<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result {
        var text = self
        return try text.withUTF8(body)
    }
}
