import Files
import ImageHeader
import Platform

/// Which picture of a folder is an album's cover: a person's before Sleeve's, then the first in the order of `CoverName`. Any other picture is
/// none: booklets, backs and photographs of artists lie there, too.
///
/// It is asked by the scan, by what writes covers and by what embeds them; an audit reads what the scan has chosen.
package struct CoverChoice: Sendable {
    private let titles: Set<String>
    private let isSleeves: @Sendable (BytePath) -> Bool

    /// - Parameters:
    ///   - titles: The album's, as in `ScannedAlbum`.
    ///   - isSleeves: Whether a fill has written a file, which is unchanged since.
    package init(_ titles: Set<String>, isSleeves: @escaping @Sendable (BytePath) -> Bool = { _ in false }) {
        (self.titles, self.isSleeves) = (titles, isSleeves)
    }

    /// The cover among the pictures of a folder; nil if none is.
    package func cover(among pictures: [CoverFile]) -> CoverFile? {
        let covers = pictures.compactMap { picture in
            CoverName(picture.path.name, titles: titles).map { (name: $0, picture: picture) }
        }.sorted { $0.name < $1.name }.map(\.picture)
        return covers.count < 2 ? covers.first : covers.first { !isSleeves($0.path) } ?? covers[0]
    }

    /// The cover in a folder as it is now, whose type is not read. A link is a person's, wherever it leads.
    /// - Throws: `SystemError`.
    func cover(in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        var pictures: [CoverFile] = []
        for name in try folder.names() where CoverName(name.bytes, titles: titles) != nil {
            guard let status = try folder.status(of: name), status.st_size > 0,
                [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
            else { continue }
            pictures.append(CoverFile(path: path.appending(name.bytes)))
        }
        return cover(among: pictures)
    }
}

/// What fills have written into music folders: it says nothing of an album.
struct SleevesPictures: Sendable {
    /// Whether a fill has written a file, which is unchanged since.
    var isFile: @Sendable (BytePath) -> Bool = { _ in false }
    /// The digests of pictures in tags, whatever their songs and their other tags are called by now.
    var inTags: Set<Digest> = []
}

/// Which picture beside the audio files is the album's cover, by its name.
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

/// A picture beside the audio files that is, or may be, an album's cover.
package struct CoverFile: Sendable, Hashable, Codable {
    package var path: BytePath
    /// By its first bytes; nil if it is no image that is known, or cannot be read.
    package var mediaType: String?
    /// Whether that was looked for.
    private(set) var isRead = false

    /// Reads the type from the file.
    mutating func readHeader() {
        isRead = true
        guard let bytes = try? RegularFile.contents(of: path, maximumLength: ImageHeader.maximumBeginning).bytes else {
            return
        }
        mediaType = bytes.withUnsafeBytes { ImageHeader($0) }?.mediaType
    }
}
