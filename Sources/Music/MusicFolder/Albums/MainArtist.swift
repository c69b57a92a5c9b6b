import AlbumLibrary
import CoverSources

/// Whose album it is, by the names in the tags of its songs.
struct MainArtist: Hashable {
    /// As written; empty if the tags have no artist.
    var name = ""
    /// Equal for spellings of one name.
    var key = ""
    /// Other names that the album may be credited to.
    var others: [String] = []

    static let various = "Various Artists"
    private static let variousKey = FoldedText(artist: various).key

    /// A name that songs have, how many have it, and its beginnings.
    private struct Credit {
        var name: Name
        var songs: Int
    }

    /// A name of an artist, folded once for all of its songs.
    final class Name: Sendable {
        /// Without featured artists.
        let text: String
        let key: String
        /// What precedes the separators in it, the longest first.
        let beginnings: [(key: String, text: String)]

        init(_ text: String) {
            let name = FoldedText.withoutFeatures(text)
            let folded = FoldedText(artist: name)
            if folded.isVarious {
                (self.text, key, beginnings) = (MainArtist.various, MainArtist.variousKey, [])
            } else {
                (self.text, key) = (name, folded.key)
                beginnings = MainArtist.beginnings(of: name).map { (FoldedText(artist: $0).key, $0) }
            }
        }
    }

    /// Names that were folded already.
    struct Names {
        private var names: [String: Name] = [:]

        mutating func name(_ text: String) -> Name {
            if let name = names[text] { return name }
            let name = Name(text)
            names[text] = name
            return name
        }
    }

    init() {}

    /// - Parameters:
    ///   - songs: The tags of songs, and how many songs have them.
    ///   - isWhole: Whether these are all songs of the album, so that Various Artists of whom there is one are that artist.
    init(_ songs: [(tags: SongTags, count: Int)], isWhole: Bool, _ names: inout Names) {
        func credits(_ name: (SongTags) -> String) -> [Credit] {
            songs.compactMap { tags, count in
                let text = name(tags)
                return text.isEmpty ? nil : Credit(name: names.name(text), songs: count)
            }
        }
        let albums = credits(\.albumArtist)
        let artists = credits(\.artist)
        let isOne = Set(albums.lazy.map(\.name.key)).count == 1
        let areMost = albums.reduce(0) { $0 + $1.songs } * 2 >= songs.reduce(0) { $0 + $1.count }
        let credited = isOne && areMost ? albums : credits { $0.albumArtist.isEmpty ? $0.artist : $0.albumArtist }
        var main = Self.shared(credited) ?? Self.split(credited, isCompilation: songs.allSatisfy(\.tags.isCompilation))
        let performer = artists.first?.name
        let isAlone = artists.allSatisfy { $0.name.key == performer?.key }
        if let performer, isAlone, performer.key != Self.variousKey {
            if main.key == Self.variousKey, isWhole, songs.reduce(0, { $0 + $1.count }) > 1 {
                main = Self(performer.text, performer.key)
            }
            if main.key != performer.key { main.others.append(performer.text) }
        }
        self = main
    }

    private init(_ name: String, _ key: String) { (self.name, self.key) = (name, key) }

    // MARK: Names

    /// The name that three quarters of the songs share: whole; else the longest beginning that is another song's whole name, or that of
    /// four different names.
    private static func shared(_ credits: [Credit]) -> MainArtist? {
        let total = credits.reduce(0) { $0 + $1.songs }
        if total == 0 { return MainArtist() }
        var (wholes, support): ([String: Int], [String: Int]) = ([:], [:])
        for credit in credits {
            wholes[credit.name.key, default: 0] += credit.songs
            for key in Set(credit.name.beginnings.map(\.key) + [credit.name.key]) {
                support[key, default: 0] += credit.songs
            }
        }
        func areMost(_ count: Int) -> Bool { count * 4 >= total * 3 }
        if let most = wholes.first(where: { areMost($0.value) }) {
            let spellings = credits.lazy.filter { $0.name.key == most.key }
            return MainArtist(spellings.max { $0.songs < $1.songs }?.name.text ?? "", most.key)
        }
        let shared = support.filter { areMost($0.value) && (wholes[$0.key] != nil || wholes.count > 3) }
        let names = credits.lazy.flatMap { $0.name.beginnings + [($0.name.key, $0.name.text)] }
        return names.filter { shared[$0.key] != nil }.max { $0.text.count < $1.text.count }.map {
            MainArtist($0.text, $0.key)
        }
    }

    /// The names of two or three artists; else Various Artists.
    private static func split(_ credits: [Credit], isCompilation: Bool) -> MainArtist {
        let wholes = Set(credits.lazy.map(\.name.key))
        var (keys, texts): (Set<String>, [String]) = ([], [])
        for credit in credits {
            let own = credit.name.beginnings.last { wholes.contains($0.key) } ?? (credit.name.key, credit.name.text)
            if keys.insert(own.0).inserted { texts.append(own.1) }
        }
        guard (2...3).contains(keys.count), !isCompilation, !keys.contains(variousKey) else {
            return MainArtist(various, variousKey)
        }
        let name = texts.joined(separator: " & ")
        var main = MainArtist(name, FoldedText(artist: name).key)
        main.others = [texts.reversed().joined(separator: " & ")]
        return main
    }

    /// What joins artists without spaces.
    private static let signs: Set<Character> = ["&", ",", ";", "/", "|"]

    /// What precedes each separator, the longest first.
    private static func beginnings(of name: String) -> [String] {
        let text = Array(name)
        var ends: [Int] = []
        for (index, character) in text.enumerated() where index > 0 {
            if signs.contains(character) {
                ends.append(index)
            } else if character == " ", let word = word(after: index, in: text), TitleWords.joiners.contains(word) {
                ends.append(index)
            }
        }
        let found = ends.suffix(8).reversed().map { String(text[..<$0]).trimmingWhitespace() }
        return found.filter { !$0.isEmpty && $0 != name }
    }

    /// The word after a space, if another space follows it.
    private static func word(after index: Int, in text: [Character]) -> String? {
        let rest = text[(index + 1)...].prefix(5)
        return rest.firstIndex(of: " ").map { String(rest[..<$0]).lowercased() }
    }
}
