/// What a bracket or an ending of a title says of an edition, a kind of release or a disc; a carrier says nothing.
struct TitleEnding: Sendable, Hashable {
    /// The words that tell the edition, and its numbers, sorted: `25th`, `anniversary`, `deluxe`.
    var editions: Set<String> = []
    /// `single`, `ep` or `soundtrack`.
    var kinds: Set<String> = []
    /// The number or letter of a disc.
    var disc: String?

    init() {}

    /// Nil if a word is on no list, or nothing is told: the text is a part of the name.
    /// - Parameter isBracket: Whether carriers and countries count, which otherwise are words of a name.
    init?(_ words: [String], isBracket: Bool) {
        var rest = words
        disc = Self.disc(&rest)
        if rest.isEmpty, disc != nil { return }
        if isBracket, Self.isSampling(rest) { return }
        if rest == ["e", "p"] { rest = ["ep"] }
        let isSoundtrack = Self.isSoundtrack(rest)
        var hasCarrier = false
        for word in rest {
            if let kind = TitleWords.singles[word] {
                kinds.insert(kind)
            } else if TitleWords.editions.contains(word) || isBracket && TitleWords.countries.contains(word) {
                editions.insert(word.hasPrefix("remaster") ? "remaster" : word.hasPrefix("reissue") ? "reissue" : word)
            } else if isBracket, Self.isCarrier(word) {
                hasCarrier = true
            } else if TitleWords.isNumber(word), word != "0" {
                editions.insert(word)
            } else if !TitleWords.accompanying.contains(word),
                !(isSoundtrack && TitleWords.soundtracks.contains(word))
            {
                return nil
            }
        }
        if isSoundtrack { kinds.insert("soundtrack") }
        if words.contains("version"), !TitleWords.languages.isDisjoint(with: words) { editions.insert("version") }
        let isEdition = editions.contains { !TitleWords.isNumber($0) }
        if !isEdition { editions = [] }
        // "Deluxe" is "Deluxe Edition".
        if editions.contains(where: { $0 != "edition" && !TitleWords.isNumber($0) }) { editions.remove("edition") }
        // “Tron: Legacy” is a name.
        if !isBracket, isEdition, kinds.isEmpty, disc == nil, TitleWords.plainEditions.isDisjoint(with: words) {
            return nil
        }
        let hasMoreNumbers = !isEdition && !hasCarrier && disc == nil && rest.contains(where: TitleWords.isNumber)
        guard isEdition || !kinds.isEmpty || hasCarrier || disc != nil, !hasMoreNumbers else { return nil }
    }

    /// `ost`, `soundtrack`, `music from the motion picture`.
    static func isSoundtrack(_ words: [String]) -> Bool {
        words.contains { ["ost", "soundtrack", "soundtracks"].contains($0) }
            || words.count > 2 && ["music", "songs"].contains(words[0]) && words[1] == "from"
                && words.allSatisfy(TitleWords.soundtracks.contains)
    }

    /// `[24-96]`, `[16-44.1]`.
    private static func isSampling(_ words: [String]) -> Bool {
        let rates = ["44", "48", "88", "96", "176", "192", "352", "384"]
        return words.count > 1 && words.count < 4 && ["16", "24", "32"].contains(words[0]) && rates.contains(words[1])
            && words.dropFirst(2).allSatisfy { ["1", "2", "4"].contains($0) }
    }

    /// A carrier, also with its number: `2cd`, `24bit`.
    private static func isCarrier(_ word: String) -> Bool {
        if TitleWords.carriers.contains(word) { return true }
        let unit = word.drop { $0.isASCII && $0.isNumber }
        return unit.count < word.count && ["cd", "cds", "lp", "lps", "bit", "khz", "kbps", "dvd", "k"].contains(unit)
    }

    /// Takes a disc word and its number out of the words: `disc 2`, `cd1`, `disc a`. - Returns: the number, without leading zeros.
    private static func disc(_ words: inout [String]) -> String? {
        for (index, word) in words.enumerated() {
            let name = word.prefix { !($0.isASCII && $0.isNumber) }
            let digits = word.dropFirst(name.count)
            if TitleWords.discs.contains(String(name)), !digits.isEmpty, digits.allSatisfy(\.isNumber) {
                words.remove(at: index)
                return FoldedText.withoutZeros(String(digits))
            }
            let isMedia = word == "media" && index > 0 && words[index - 1] == "digital"
            guard TitleWords.discs.contains(word) || isMedia, index + 1 < words.count else { continue }
            let next = words[index + 1]
            let number = TitleWords.number(next)
            guard next.allSatisfy(\.isNumber) || number != nil || next.count == 1 else { continue }
            words.removeSubrange((isMedia ? index - 1 : index)...(index + 1))
            return number.map { "\($0)" } ?? FoldedText.withoutZeros(next)
        }
        return nil
    }
}
