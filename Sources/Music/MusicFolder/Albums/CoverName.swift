/// Which picture beside the audio files is the album's cover, by its name.
///
/// Any other picture is none: booklets, backs and photographs of artists lie there, too.
package struct CoverName: Comparable, Sendable {
    /// The name, the number after it, the extension; lower is better.
    private var (stem, number, type): (Int, Int, Int)

    /// In this order. The album's title comes before the last one, which Windows makes: 75 pixels.
    private static let stems = ["cover", "folder", "front", "album", "albumart"]
    private static let smallest = "albumartsmall"

    /// Returns nil for a name that is no cover's.
    /// - Parameter album: The album's title; nil if only the names count that fit every album.
    package init?(_ name: [UInt8], album: String?) {
        guard let known = MusicNames.fileExtension(name), let type = MusicNames.pictures.firstIndex(of: known) else {
            return nil
        }
        let text = Folding.key(String(decoding: name.dropLast(known.utf8.count + 1), as: UTF8.self))
        self.type = type
        // Exact names first: an album may be called "Cover 2".
        for (number, candidate) in [(0, text), Self.withoutNumber(text)].compactMap({ $0 }) {
            self.number = number
            if let index = Self.stems.firstIndex(of: candidate) {
                stem = index
                return
            }
            if number == 0, let album, !album.isEmpty,
                Folding.key(album) == candidate || Folding.key(Self.safe(album)) == candidate
            {
                stem = Self.stems.count
                return
            }
            if candidate == Self.smallest {
                stem = Self.stems.count + 1
                return
            }
        }
        return nil
    }

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

    /// The best of a folder's pictures; nil if none is a cover. Empty files are none.
    package static func best(of pictures: [FolderListing.Entry], album: String?) -> FolderListing.Entry? {
        pictures.lazy.compactMap { entry in
            entry.size > 0 ? CoverName(entry.name, album: album).map { (name: $0, entry: entry) } : nil
        }.min { $0.name < $1.name }?.entry
    }
}
