/// Names of files that Linux, macOS and Windows all accept, made from any text.
enum SafeName {
    /// ext4, APFS and NTFS allow 255 bytes, bytes, and UTF-16 units. No name has more units than bytes of UTF-8.
    private static let maximumLength = 255

    /// Replaces what no part of a name may have: separators, the characters that Windows reserves, controls. The result may be empty.
    /// - Parameter keepsBlanks: Blanks and dots at the ends stay: it is not a whole name.
    static func cleaned(_ text: String, keepingBlanks keepsBlanks: Bool = false) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            (0x20..<0x7F).contains(byte) && !"/\\:*?\"<>|".utf8.contains(byte)
        }
        if text.utf8.allSatisfy(isPlain) { return keepsBlanks ? text : trimming(text[...], leading: true) }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": scalars.append("_")
            case "\t", "\n", "\r": scalars.append(" ")
            default: if !isControl(scalar) { scalars.append(scalar) }
            }
        }
        return keepsBlanks ? String(scalars) : trimming(String(scalars)[...], leading: true)
    }

    /// Controls of terminals and of the direction of text (Unicode Standard Annex 9), and byte order marks.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value) || [0x200E, 0x200F, 0x061C, 0xFEFF].contains(scalar.value)
    }

    /// Makes the name of a file or a folder from cleaned text: no leading dot, no dots or blanks before the suffix, no name of a device of
    /// Windows, no more bytes than a name may have.
    /// - Parameters:
    ///   - suffix: what the name ends with in any case, such as ` (2).jpg`. Already safe.
    ///   - allowsLeadingDot: The name may be hidden, as a person wrote it so.
    static func name(_ text: String, suffix: String = "", allowsLeadingDot: Bool = false) -> String {
        var name = trimming(text[...], leading: true)
        if !allowsLeadingDot, name.hasPrefix(".") { name = "_" + name.dropFirst() }
        name = shortened(name, to: maximumLength - suffix.utf8.count - 1)
        if name.isEmpty { name = "_" }
        // Windows looks only at what precedes the first dot.
        let end = name.firstIndex(of: ".") ?? name.endIndex
        if isDevice(trimming(name[..<end], leading: false)) { name.insert("_", at: end) }
        return name + suffix
    }

    /// Equal for names that some file system takes for one: APFS and NTFS ignore case, and APFS how letters are composed. Swift's `==`
    /// ignores the latter, too.
    static func folded(_ name: String) -> String { name.uppercased().lowercased() }

    /// Cut off at a character.
    private static func shortened(_ text: String, to length: Int) -> String {
        if text.utf8.count <= length { return text }
        var (end, count) = (text.startIndex, 0)
        for index in text.indices {
            let size = text[index].utf8.count
            if count + size > length { break }
            count += size
            end = text.index(after: index)
        }
        return trimming(text[..<end], leading: false)
    }

    /// Without blanks around it and dots at its end, which Windows drops.
    private static func trimming(_ text: Substring, leading: Bool) -> String {
        var text = text
        while let last = text.last, last == "." || last.isWhitespace { text.removeLast() }
        while leading, text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }

    /// Names that Windows keeps for devices ("Naming Files, Paths, and Namespaces").
    private static func isDevice(_ name: String) -> Bool {
        let name = name.uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(name) { return true }
        guard name.count == 4, name.hasPrefix("COM") || name.hasPrefix("LPT"), let last = name.last else {
            return false
        }
        return "0123456789\u{B9}\u{B2}\u{B3}".contains(last)
    }
}
