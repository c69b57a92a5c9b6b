/// A block of 512 bytes that precedes a file in a tar archive (POSIX.1-1988, "ustar").
package struct TarHeader: Hashable {
    enum Kind: Hashable {
        case file
        /// A directory, a link, or a block that says more about the next file.
        case other
    }

    package static let size = 512
    /// The largest file: eleven octal digits.
    static let maximumLength = 1 << 33 - 1

    var name: String
    /// The file's length in bytes. It is padded to whole blocks.
    var length: Int
    var kind: Kind

    package init(_ name: String, length: Int) { (self.name, self.length, kind) = (name, length, .file) }

    /// Bytes that follow the file up to the next block.
    package var padding: Int { -length & (Self.size - 1) }

    /// - Precondition: the name has at most 100 bytes.
    package var bytes: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.size)
        func set(_ offset: Int, _ text: String) {
            for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
        }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        set(0, name)
        set(100, octal(0o644, 7))
        set(108, octal(0, 7))
        set(116, octal(0, 7))
        set(124, octal(length, 11))
        set(136, octal(0, 11))
        set(156, "0")
        set(257, "ustar\0" + "00")
        set(148, octal(Self.checksum(block), 6) + "\0 ")
        return block
    }

    /// Nil if the checksum does not match.
    init?(_ block: some Collection<UInt8>) {
        let block = Array(block)
        guard block.count == Self.size, let stated = Self.octal(block[148..<156]), stated == Self.checksum(block),
            let length = Self.octal(block[124..<136]), (0...Self.maximumLength).contains(length)
        else { return nil }
        func text(_ range: Range<Int>) -> String { String(decoding: block[range].prefix { $0 != 0 }, as: UTF8.self) }
        let isUstar = block[257..<262].elementsEqual("ustar".utf8)
        let prefix = isUstar && block[262] == 0 ? text(345..<500) : ""
        name = prefix.isEmpty ? text(0..<100) : prefix + "/" + text(0..<100)
        self.length = length
        kind = block[156] == UInt8(ascii: "0") || block[156] == 0 ? .file : .other
        while name.hasPrefix("./") { name.removeFirst(2) }
    }

    /// The sum of all bytes, with spaces in place of the checksum.
    private static func checksum(_ block: [UInt8]) -> Int {
        block.reduce(0) { $0 + Int($1) } - block[148..<156].reduce(0) { $0 + Int($1) } + 8 * Int(UInt8(ascii: " "))
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int? {
        let text = String(decoding: field.prefix { $0 != 0 }, as: UTF8.self).filter { $0 != " " }
        return Int(text, radix: 8)
    }
}
