/// The name of a file or folder in its folder: bytes, as the file system has them, in any encoding. It has no slash, so it cannot lead
/// out of the folder.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Returns nil if no file can have this name: it is empty, `.` or `..`, or has a slash or a NUL.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes != [dot], bytes != [dot, dot], !bytes.contains(UInt8(ascii: "/")),
            !bytes.contains(0)
        else { return nil }
        self.bytes = bytes
    }

    package init?(_ text: String) { self.init(text.utf8) }

    /// The name as text. Bytes that are no UTF-8 are U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }

    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result { Self.withCString(bytes, body) }

    static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
        }
    }
}
