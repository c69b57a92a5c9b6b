/// How the titles of two albums relate.
struct TitleEvidence: Sendable {
    var line: Match.Line
    var isOtherScript = false
    /// It nearly agrees: a beginning, a bracket or one letter is all that differs.
    var isNear = false
    /// No word makes one of them another recording.
    let isSameRecording: Bool
    /// Both are of the same editions and kind.
    let haveSameEditions: Bool

    /// - Parameters:
    ///   - lengthsAgree: Whether the songs are known to be the same.
    ///   - areSame: Whether one may be another edition of the other.
    init(_ ours: FoldedText, _ theirs: FoldedText, lengthsAgree: Bool, areSame: Bool) {
        let kinds = (ours.kinds, theirs.kinds)
        let areOfOneKind = kinds.0.subtracting(["soundtrack"]) == kinds.1.subtracting(["soundtrack"])
        haveSameEditions = ours.editions == theirs.editions && areOfOneKind
        isSameRecording = ours.isSameRecording(as: theirs)
        line = .init(.contradicts, "title differs: “\(theirs.searchText)”")
        if let disc = ours.disc, let other = theirs.disc, disc != other {
            line = .init(.contradicts, "disc \(other) where yours is disc \(disc)")
        } else if ours.isSame(as: theirs) {
            if !areOfOneKind, !lengthsAgree {
                line = .init(.silent, "one is a single or an EP")
            } else if ours.editions.contains("version") != theirs.editions.contains("version") {
                line = .init(.silent, "one is a version in another language")
            } else if ours.editions != theirs.editions, !areSame {
                line = .init(.silent, "title of another edition")
            } else {
                line = .init(.agrees, "title agrees")
            }
        } else if ours.key.isEmpty || theirs.key.isEmpty {
            line = .init(.silent, "title unknown")
        } else if ours.numbers != theirs.numbers {
            line.text = "title has another number: “\(theirs.searchText)”"
        } else if Script.differ(ours.key, theirs.key) {
            (line, isOtherScript) = (.init(.silent, "title in another script: “\(theirs.searchText)”"), true)
        } else if ours.isSilent(about: theirs) || theirs.isSilent(about: ours) || ours.isOneLetter(from: theirs)
            || ours.isScore(beside: theirs)
        {
            line = .init(.silent, "title nearly agrees: “\(theirs.searchText)”")
            isNear = true
        }
    }

    /// The titles without the artist's name and the composer's.
    static func folded(_ ours: FoldedAlbum, _ theirs: FoldedAlbum) -> (FoldedText, FoldedText) {
        let names = (ours.artists + theirs.artists).map(\.whole).filter { !$0.isVarious && !$0.key.isEmpty }
        func title(_ folded: FoldedAlbum) -> FoldedText {
            withoutArtist(FoldedText.spaced(folded.album.title), names)
                .map { FoldedText($0, year: folded.album.year) } ?? folded.title
        }
        return (title(ours), title(theirs))
    }

    /// Nil for a title that has no such name.
    private static func withoutArtist(_ title: String, _ names: [FoldedText]) -> String? {
        guard title.utf8.contains(where: { $0 == 0x2D || $0 == 0x3A }) else { return nil }
        func isName(_ text: Substring) -> Bool {
            let key = FoldedText(artist: String(text)).key
            return names.contains { $0.key == key }
        }
        if let dash = title.firstRange(of: " - "), isName(title[..<dash.lowerBound]) {
            return String(title[dash.upperBound...])
        }
        if let dash = title.ranges(of: " - ").last, isName(title[dash.upperBound...]) {
            return String(title[..<dash.lowerBound])
        }
        guard let colon = title.firstRange(of: ": ") else { return nil }
        let composer = FoldedText(artist: String(title[..<colon.lowerBound]))
        let isComposer =
            composer.words.last.map(TitleWords.composers.contains) == true && composer.words.count < 4
            || isName(title[..<colon.lowerBound])
        return isComposer ? String(title[colon.upperBound...]) : nil
    }

    /// Whether titles of these words tell no album from another: without the artist's name nothing is left but numbers, and words as any
    /// title has.
    static func isGeneric(_ title: FoldedText, _ artists: [FoldedText]) -> Bool {
        if artists.contains(where: { $0.key == title.key }) { return true }
        let own = Set(artists.flatMap(\.words)).union(title.words.contains("sides") ? ["a", "b"] : ["a"])
        if title.words == ["a"] { return false }
        return title.words.allSatisfy { word in
            own.contains(word) || TitleWords.generic.contains(word) || TitleWords.isNumber(word)
                || TitleWords.works.contains(word) || TitleWords.months.contains(word)
        }
    }

    static func isWork(_ title: FoldedText) -> Bool { title.words.contains(where: TitleWords.works.contains) }
}

extension FoldedText {
    var isReissue: Bool { editions.contains(where: TitleWords.reissues.union(["remaster", "reissue"]).contains) }

    var numbers: [String] {
        words.filter { $0.unicodeScalars.allSatisfy { $0.properties.numericType != nil } }
    }

    /// The words up to a number at the end that may be written in another way, and to the word for a volume before it.
    var wordsBeforeNumber: [String] {
        guard let last = words.last, let number = Int(last) else { return words }
        if words.dropLast().last.map(TitleWords.volumes.contains) == true { return words.dropLast(2) }
        return number < 40 ? words.dropLast() : words
    }

    /// Whether the names are spellings of one. In “C#” and “A+”, what folding drops says as much as what it keeps. “Hello!” is not “Hello?”,
    /// but “Help” is “Help!”.
    func isSame(as other: FoldedText) -> Bool {
        if key.isEmpty || key != other.key { return false }
        let isOther = !marks.isEmpty && !other.marks.isEmpty && marks.isDisjoint(with: other.marks)
        return !isOther && key.count > 2 || signs == other.signs
    }

    private var signs: String { searchText.lowercased().filter { $0 != " " } }
    private var marks: Set<Character> { Set(ScalarFolding.fold(searchText).filter("!?+#*".contains)) }

    /// Whether this is a beginning of the other, in whole words, or the other without a bracket, and no word makes that another recording.
    func isSilent(about other: FoldedText) -> Bool {
        let more = other.words.dropFirst(words.count)
        let isBeginning = other.words.starts(with: words) && !more.contains(where: TitleWords.recordings.contains)
        let recordings = TitleWords.recordings
        return isBeginning
            || other.bare == key && recordings.intersection(words) == recordings.intersection(other.words)
    }

    /// Whether both have the same words of other recordings.
    func isSameRecording(as other: FoldedText) -> Bool {
        TitleWords.allRecordings.intersection(words) == TitleWords.allRecordings.intersection(other.words)
    }

    /// Whether one is a score, and only the words of soundtracks differ.
    func isScore(beside other: FoldedText) -> Bool {
        let names = [self, other].map { $0.words.filter { $0 != "score" && !TitleWords.soundtracks.contains($0) } }
        return (words + other.words).contains("score") && !names[0].isEmpty && names[0] == names[1]
    }

    /// Whether one letter is another one, missing or added, where the longer name has five letters or more.
    func isOneLetter(from other: FoldedText) -> Bool {
        let (first, second) = (Array(key), Array(other.key))
        let (shorter, longer) = (min(first.count, second.count), max(first.count, second.count))
        guard shorter > 3, longer > 4, longer - shorter < 2, numbers == other.numbers else { return false }
        let start = zip(first, second).prefix { $0 == $1 }.count
        let end = zip(first.dropFirst(start).reversed(), second.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return longer - start - end == 1
    }
}
