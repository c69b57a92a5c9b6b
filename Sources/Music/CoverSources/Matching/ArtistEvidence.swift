/// How the artists of two albums relate. Each may be credited to several names.
struct ArtistEvidence: Sendable {
    var line: Match.Line
    /// Both are collections of various artists.
    var areVarious = false
    /// One of them is not known.
    var isUnknown = false
    /// One names other artists, too, who make no other recording of it.
    var isJoined = false
    /// Their names are of different scripts.
    var isOtherScript = false
    /// One letter differs.
    var isNear = false
    /// The name that agrees is no composer's, whose works others perform.
    var isPerformer = false
    /// The name that agrees is the album artist's, and another artist performs all songs.
    var isOthersWork = false
    /// Theirs names performers, none of whom is ours.
    var isOtherPerformer = false

    init(_ our: FoldedAlbum, _ their: FoldedAlbum) {
        let (query, candidate) = (our.album, their.album)
        let (ours, theirs) = (our.artists.filter(\.isKnown), their.artists.filter(\.isKnown))
        let various = (our.artists[0].isVarious, their.artists[0].isVarious)
        // Karaoke stars and tribute bands are joined with the artist whose songs they play.
        let isSameRecording = our.artists[0].whole.isSameRecording(as: their.artists[0].whole)
        line = .init(.contradicts, "artist differs: “\(candidate.artist)”")
        if various == (true, true) {
            (line, areVarious) = (.init(.agrees, "artist agrees"), true)
        } else if ours.isEmpty || theirs.isEmpty {
            (line, isUnknown) = (.init(.silent, "artist unknown"), true)
        } else if let name = ours.first(where: { name in !name.isVarious && theirs.contains { name.agrees(with: $0) } })
        {
            line = .init(.agrees, "artist agrees")
            isOthersWork = name.text == ours[0].text && ours.contains { $0.isOther(than: name) }
            isPerformer = !isOthersWork && !TitleWords.composers.contains(name.folded.words.last ?? "")
        } else if various.0 || various.1 {
            return
        } else if ours.contains(where: { name in theirs.contains { name.isPart(of: $0) || $0.isPart(of: name) } }) {
            line = .init(.silent, "artist joined with others: “\(candidate.artist)”")
            isJoined = isSameRecording
            isOtherPerformer = ours.dropFirst().contains { name in
                name.isOther(than: ours[0]) && !theirs.contains { name.isPart(of: $0) || $0.isPart(of: name) }
            }
        } else if !Script.scripts(query.artist).isEmpty, Script.differ(query.artist, candidate.artist) {
            (line, isOtherScript) = (.init(.silent, "artist in another script: “\(candidate.artist)”"), true)
        } else if ours.contains(where: { name in theirs.contains { name.folded.isOneLetter(from: $0.folded) } }) {
            line = .init(.silent, "artist one letter apart: “\(candidate.artist)”")
            isNear = isSameRecording
        } else if ours.contains(where: { name in theirs.contains { name.folded.bare == $0.folded.bare } }) {
            line = .init(.silent, "artist with another word in brackets: “\(candidate.artist)”")
        }
    }

    /// `First Last` of `Last, First`; nil for another name.
    static func reversed(_ name: String) -> String? {
        let parts = name.split(separator: ",")
        guard parts.count == 2, !name.contains("&") else { return nil }
        return FoldedText.trimmed("\(parts[1]) \(parts[0])")
    }

    /// `Low Tide` of `Low Tide (UK)`; nil for another name.
    static func withoutBracket(_ name: String) -> String? {
        guard let last = name.last, ")]".contains(last), let start = name.lastIndex(where: { "([".contains($0) }) else {
            return nil
        }
        let rest = FoldedText.trimmed(String(name[..<start]))
        return rest.isEmpty ? nil : rest
    }
}

/// A name of an artist.
struct ArtistName: Sendable {
    /// Without featured artists.
    let text: String
    let folded: FoldedText
    /// The name with featured artists.
    let whole: FoldedText
    var isKnown: Bool { !folded.key.isEmpty }
    var isVarious: Bool { folded.isVarious }

    init(_ name: String) {
        text = FoldedText.withoutFeatures(name)
        folded = FoldedText(artist: text)
        whole = text == name ? folded : FoldedText(artist: name)
    }

    func agrees(with other: ArtistName) -> Bool {
        folded.isSame(as: other.folded) || isReversed(other) || other.isReversed(self) || isLeader(of: other)
            || other.isLeader(of: self) || members.count > 1 && members == other.members
    }

    /// Whether it is another artist's name, not a form of this one with guests, a band or in another script.
    func isOther(than other: ArtistName) -> Bool {
        let (ours, theirs) = (Set(folded.words), Set(other.folded.words))
        return !ours.isSubset(of: theirs) && !theirs.isSubset(of: ours) && !isVarious
            && !folded.isOneLetter(from: other.folded) && !Script.differ(text, other.text)
    }

    private func isReversed(_ other: ArtistName) -> Bool {
        ArtistEvidence.reversed(text).map { FoldedText(artist: $0).key == other.folded.key } ?? false
    }

    /// `Prince` and `Prince & The Revolution`.
    private func isLeader(of other: ArtistName) -> Bool {
        let (ours, theirs) = (Self.tokens(text), Self.tokens(other.text))
        guard theirs.count > ours.count + 2, theirs.starts(with: ours) else { return false }
        return ["&", "and", "+"].contains(theirs[ours.count])
            && ["the", "his", "her"].contains(theirs[ours.count + 1])
    }

    /// One of several names. A whole name counts: 10,000 Maniacs are no two.
    func isPart(of other: ArtistName) -> Bool {
        let (ours, theirs) = (members, other.members)
        return theirs.count > ours.count && ours.isSubset(of: theirs)
            || theirs.count > 1 && theirs.contains(folded.key)
    }

    private var members: Set<String> {
        var names = [""]
        for token in Self.tokens(text) {
            if !TitleWords.joiners.contains(token) { names[names.count - 1] += " " + token }
            if TitleWords.joiners.contains(token) || token.hasSuffix(",") { names.append("") }
        }
        return Set(
            names.flatMap { $0.split(whereSeparator: { "/|;".contains($0) }) }
                .map { FoldedText(artist: String($0)).key }.filter { !$0.isEmpty })
    }

    private static func tokens(_ text: String) -> [String] {
        ScalarFolding.fold(text).split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

/// The scripts of names: one in Latin letters and one in Japanese may be of one album.
enum Script {
    static func differ(_ first: String, _ second: String) -> Bool {
        let (first, second) = (scripts(first), scripts(second))
        return !first.isEmpty && !second.isEmpty && first.isDisjoint(with: second)
    }

    /// By the first scalar of their blocks; Chinese and Japanese are one.
    static func scripts(_ text: String) -> Set<UInt32> {
        let starts: [UInt32] = [0x41, 0x370, 0x400, 0x530, 0x590, 0x600, 0x900, 0xE00, 0x1100, 0x2E80, 0xAC00, 0xD7B0]
        let letters = ScalarFolding.fold(text).unicodeScalars.filter { $0.properties.isAlphabetic }
        return Set(
            letters.compactMap { letter in
                (0x1E00...0x1EFF).contains(letter.value) ? 0x41 : starts.last { $0 <= letter.value }
            })
    }
}
