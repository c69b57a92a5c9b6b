import Foundation
import Platform

/// An album of the imitated services.
struct ProviderAlbum: Decodable, Sendable {
    /// What a service does wrong, or otherwise than a client hopes.
    enum Trait: String, Decodable, Sendable {
        /// Another album comes first, with a picture of its own.
        case wrongFirst
        /// Deezer has a placeholder in place of the cover.
        case placeholder
        /// Its pictures have one colour.
        case plain
        /// Its pictures are those of all other albums with this trait.
        case same
        /// The archive's original is a PDF.
        case pdf
        /// The archive has no thumbnails.
        case noThumbnails
        /// The archive has a cover for the release group, and none for the release.
        case groupOnly
    }

    var artist, title: String
    var year: Int?
    var tracks: Int?
    /// MusicBrainz ids; made up if they are missing.
    var release, group: String?
    /// The services that have it: `caa`, `musicbrainz`, `itunes`, `deezer`. Nil for all.
    var on: [String]?
    var traits: [Trait]?
    /// The longest side of iTunes' artwork, in pixels.
    var largest: Int?

    func isOn(_ service: Provider.Service) -> Bool { on?.contains(service.rawValue) ?? true }
    func has(_ trait: Trait) -> Bool { traits?.contains(trait) ?? false }

    var releaseID: String { release ?? Self.id("release", artist, title) }
    var groupID: String { group ?? Self.id("group", artist, title) }

    private static func id(_ texts: String...) -> String {
        let digits = Array(Digest(of: texts.joined(separator: "\u{1F}").utf8).description.prefix(32))
        var (id, rest) = ("", digits[...])
        for length in [8, 4, 4, 4, 12] {
            id += (id.isEmpty ? "" : "-") + String(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return id
    }

    /// Whether each word of a search is in the artist or the title.
    func matches(artist words: String, title: String) -> Bool {
        Self.words(words).isSubset(of: Self.words(artist)) && Self.words(title).isSubset(of: Self.words(self.title))
    }

    func matches(_ term: String) -> Bool { Self.words(term).isSubset(of: Self.words("\(artist) \(title)")) }

    /// The words of a text, folded as the services' indexes are; its symbols if it has none.
    private static func words(_ text: String) -> Set<String> {
        let text = text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        let words = text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        return words.isEmpty ? Set(text.filter { !$0.isWhitespace }.map(String.init)) : Set(words)
    }
}
