/// Which picture beside the audio files is the album's cover, by its name.
///
/// Any other picture is none: booklets, backs and photographs of artists lie there, too.
package struct CoverName: Comparable, Sendable {
    /// The name, the number after it, the extension; lower is better.
    private var (stem, number, type): (Int, Int, Int)

    /// In this order; the album's title comes after them. AlbumArtSmall is none: Windows makes it, of 75 pixels.
    private static let stems = ["cover", "folder", "front", "album", "albumart"]

    /// Returns nil for a name that is no cover's.
    /// - Parameter titles: The album's; empty if only the names count that fit every album.
    package init?(_ name: [UInt8], titles: Set<String>) {
        guard let (text, type) = Self.parts(of: name) else { return nil }
        self.type = type
        // Exact names first: an album may be called "Cover 2".
        for (number, candidate) in [(0, text), Self.withoutNumber(text)].compactMap({ $0 }) {
            self.number = number
            if let index = Self.stems.firstIndex(of: candidate) {
                stem = index
                return
            }
            if number == 0, !candidate.isEmpty, titles.contains(where: { Self.keys(of: $0).contains(candidate) }) {
                stem = Self.stems.count
                return
            }
        }
        return nil
    }

    /// Whether it may be a name of the cover of an album with songs of these titles, of which some end with the disc.
    static func mayBeCover(_ name: [UInt8], titles: Set<String>) -> Bool {
        if CoverName(name, titles: []) != nil { return true }
        guard let text = parts(of: name)?.text, !text.isEmpty else { return false }
        return titles.contains { keys(of: $0).contains { $0.hasPrefix(text) } }
    }

    /// The folded name without its extension, and the rank of that; nil for a name that is no picture's.
    private static func parts(of name: [UInt8]) -> (text: String, type: Int)? {
        guard let known = MusicNames.fileExtension(name), let type = MusicNames.pictures.firstIndex(of: known) else {
            return nil
        }
        return (Folding.key(String(decoding: name.dropLast(known.utf8.count + 1), as: UTF8.self)), type)
    }

    /// The names of files that a title stands for.
    private static func keys(of title: String) -> [String] { [Folding.key(title), Folding.key(safe(title))] }

    /// `cover.1` and `cover (1)`: the further covers of programs that replace none.
    private static func withoutNumber(_ text: String) -> (Int, String)? {
        let bracketless = text.hasSuffix(")") ? text.dropLast() : text[...]
        let digits = bracketless.reversed().prefix { $0.isASCII && $0.isNumber }.count
        guard (1...3).contains(digits), let number = Int(bracketless.suffix(digits)) else { return nil }
        let rest = bracketless.dropLast(digits)
        let separators: Set<Character> = text.hasSuffix(")") ? ["("] : [".", "-", "_", " "]
        guard let last = rest.last, separators.contains(last) else { return nil }
        let stem = String(rest.dropLast().reversed().drop { $0 == " " }.reversed())
        return (number + 1, stem)
    }

    /// The title as a file's name can hold it.
    private static func safe(_ title: String) -> String {
        String(title.map { "/\\:*?\"<>|".contains($0) ? "_" : $0 })
    }

    package static func < (left: CoverName, right: CoverName) -> Bool {
        (left.stem, left.number, left.type) < (right.stem, right.number, right.type)
    }
}
