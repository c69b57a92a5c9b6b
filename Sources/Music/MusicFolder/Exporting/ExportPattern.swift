import AlbumLibrary
import CoverLibrary
import Platform

/// The names of exported files: text and fields of the album, such as `{albumartist}/{album}/cover.{ext}`.
package struct ExportPattern: Sendable, Hashable {
    /// A field of the library, or of the cover, in braces.
    package enum Field: String, Sendable, CaseIterable {
        case albumartist, artist, album, title, year, genre, id, releaseid, digest, ext

        /// What stands for a field that the album does not have.
        var unknown: String {
            switch self {
            case .albumartist, .artist: "Unknown Artist"
            case .album, .title: "Unknown Album"
            case .year: "Unknown Year"
            case .genre: "Unknown Genre"
            case .id, .releaseid, .digest, .ext: ""
            }
        }
    }

    /// Why a text is no pattern.
    package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        package var description: String
    }

    private enum Part: Sendable, Hashable {
        case text(String)
        case field(Field)
    }

    package static let standard = "{albumartist}/{album}/cover.{ext}"

    private let components: [[Part]]
    /// The component that tells albums apart, where a number is added: the last one with a field of the album.
    let numberedComponent: Int
    /// The only media type whose pictures may have this name; nil if the name ends with `{ext}` or with no picture's extension.
    let mediaType: String?

    /// - Throws: `Problem`.
    package init(_ text: String) throws(Problem) {
        if text.hasPrefix("/") || text.hasPrefix("~") {
            throw Problem(description: "the pattern begins with \(text.prefix(1)); it names files in the folder")
        }
        var components: [[Part]] = []
        for component in text.split(separator: "/", omittingEmptySubsequences: false) {
            if component.isEmpty { throw Problem(description: "the pattern has an empty name") }
            if component == "." || component == ".." {
                throw Problem(description: "the pattern leads out of the folder by “\(component)”")
            }
            if component.hasPrefix(".sleeve") { throw Problem(description: "names that begin with .sleeve are kept") }
            components.append(try Self.parts(component))
        }
        self.components = components
        let isNamed = components.map { parts in
            parts.contains { if case .field(let field) = $0 { field != .ext } else { false } }
        }
        guard let numbered = isNamed.lastIndex(of: true) else {
            throw Problem(description: "the pattern has no field of the album; \(Self.fields)")
        }
        numberedComponent = numbered
        if case .text(let end)? = components[components.count - 1].last, let dot = end.lastIndex(of: ".") {
            mediaType = PictureType.mediaType(extension: end[end.index(after: dot)...].lowercased())
        } else {
            mediaType = nil
        }
    }

    private static func parts(_ component: Substring) throws(Problem) -> [Part] {
        var (parts, rest): ([Part], Substring) = ([], component)
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
                throw Problem(description: "the pattern has a brace without its other half")
            }
            let name = rest[rest.index(after: open)..<close]
            guard let field = Field(rawValue: name.lowercased()) else {
                throw Problem(description: "there is no field {\(name)}; \(fields)")
            }
            parts.append(.field(field))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    private static var fields: String {
        "the fields are \(Field.allCases.map { "{\($0)}" }.joined(separator: ", "))"
    }

    // MARK: Names

    /// The path of an album's cover: safe names, the file's last.
    /// - Parameters:
    ///   - cover: nil if the cover is not cached: its digest and its extension are missing then.
    ///   - number: added to the name that tells albums apart, unless it is 1.
    func path(of album: Album, _ cover: ExportCover?, number: Int = 1) -> [String] {
        components.enumerated().map { index, parts in
            var text = ""
            for part in parts {
                switch part {
                case .text(let own): text += SafeName.cleaned(own, keepingBlanks: true)
                case .field(let field): text += Self.value(field, album, cover)
                }
            }
            var suffix = ""
            if index == components.count - 1, let dot = text.lastIndex(of: "."), text[dot...].utf8.count <= 5 {
                suffix = text[dot...].utf8.count > 1 ? String(text[dot...]) : ""
                text = String(text[..<dot])
            }
            if number > 1, index == numberedComponent { suffix = " (\(number))" + suffix }
            var isHidden = false
            if case .text(let own)? = parts.first { isHidden = own.hasPrefix(".") }
            return SafeName.name(text, suffix: suffix, allowsLeadingDot: isHidden)
        }
    }

    private static func value(_ field: Field, _ album: Album, _ cover: ExportCover?) -> String {
        let text =
            switch field {
            case .albumartist, .artist: album.artist
            case .album, .title: album.title
            case .year: album.year
            case .genre: album.genre
            case .id: album.id
            case .releaseid: album.musicBrainzReleaseID ?? album.id
            case .digest: cover?.digest.description ?? ""
            case .ext: cover.map { PictureType.fileExtension($0.mediaType) } ?? ""
            }
        let value = SafeName.cleaned(text)
        return value.isEmpty ? field.unknown : value
    }
}

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
