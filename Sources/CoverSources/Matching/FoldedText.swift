/// A name of an artist or an album as names are compared: folded, without punctuation, a leading “The”, “and”, featured artists and
/// editions.
///
/// ```
/// The Beatles, Beatles, The                       beatles
/// Simon & Garfunkel, Simon and Garfunkel          simongarfunkel
/// Nevermind (Deluxe Edition), Nevermind - EP      nevermind, and the edition
/// Weezer (Blue Album)                             weezerbluealbum: its bracket names no edition
/// !!!, ( ), ÷                                     the symbols themselves, which are all there is
/// ```
package struct FoldedText: Sendable, Hashable {
    /// Equal for spellings of one name. Empty only if the text is blank.
    package let key: String
    /// The editions that `key` leaves out, each as a word: `deluxeedition`.
    package let editions: [String]
    /// `key` without the other parts in brackets.
    let bare: String
    /// The words of `key`, in order.
    let words: [String]
    /// The name without edition and featured artists as it was written, for searches.
    package let searchText: String

    package init(_ text: String) {
        let folded = ScalarFolding.fold(text)
        guard folded.unicodeScalars.contains(where: Self.isWord) else {
            let symbols = folded.filter { !$0.isWhitespace }
            (key, bare, editions, words) = (symbols, symbols, [], symbols.isEmpty ? [] : [symbols])
            searchText = Self.trimmed(text)
            return
        }
        var (kept, editions) = Self.withoutEditions(Self.parts(of: Self.movingArticle(folded)))
        if kept.allSatisfy({ Self.words(of: $0.text).isEmpty }) {
            // The name is itself an edition's, such as “Deluxe”.
            (kept, editions) = ([Part(text: folded, isBracket: false)], [])
        }
        words = Self.significant(kept.flatMap { Self.words(of: $0.text) })
        key = words.joined()
        let outer = Self.significant(kept.filter { !$0.isBracket }.flatMap { Self.words(of: $0.text) }).joined()
        bare = outer.isEmpty ? key : outer
        self.editions = editions
        searchText = Self.searchText(of: text, isWhole: editions.isEmpty)
    }

    /// Whether the names are one collective artist's: Various Artists, in some languages.
    package var isVarious: Bool { Self.various.contains(key) }

    private static let various: Set<String> = [
        "various", "variousartists", "variousartist", "va", "sampler", "compilation", "diverse", "diverseinterpreten",
        "diversekunstler",
        "verschiedene", "verschiedeneinterpreten", "verschiedenekunstler", "artistesvaries", "artistesdivers",
        "multiinterpretes",
        "variosartistas", "variosinterpretes", "artistivari", "aavv", "varios", "divers", "разныеисполнители", "群星",
        "オムニバス",
    ]

    // MARK: Parts

    private struct Part {
        var text: String
        var isBracket: Bool
    }

    /// `Beatles, The` as `The Beatles`.
    private static func movingArticle(_ text: String) -> String {
        let text = trimmed(text)
        return text.hasSuffix(", the") ? "the " + text.dropLast(5) : text
    }

    /// The text in and outside brackets. A bracket that does not end is a character.
    private static func parts(of text: String) -> [Part] {
        let closing: [Character: Character] = ["(": ")", "[": "]", "{": "}"]
        var (parts, plain, rest) = ([Part](), "", Substring(text))
        while let character = rest.popFirst() {
            guard let end = closing[character], let length = lengthOfBracket(rest, character, end) else {
                plain.append(character)
                continue
            }
            parts.append(Part(text: plain, isBracket: false))
            plain = ""
            parts.append(Part(text: String(rest.prefix(length)), isBracket: true))
            rest = rest.dropFirst(length + 1)
        }
        parts.append(Part(text: plain, isBracket: false))
        return parts
    }

    private static func lengthOfBracket(_ text: Substring, _ start: Character, _ end: Character) -> Int? {
        var depth = 1
        for (index, character) in text.enumerated() {
            if character == start { depth += 1 }
            if character == end { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The parts without editions and featured artists, and the editions.
    private static func withoutEditions(_ parts: [Part]) -> (parts: [Part], editions: [String]) {
        var (kept, editions) = ([Part](), [String]())
        for part in parts {
            let words = words(of: part.text)
            if part.isBracket {
                if words.first.map(features.contains) == true { continue }
                if EditionWords.nameEdition(words) { editions.append(words.joined()) } else { kept.append(part) }
            } else {
                var text = withoutFeatures(part.text)
                if let edition = editionAlone(text), !kept.isEmpty {
                    editions.append(edition)
                    continue
                }
                while let (name, edition) = editionAtEnd(of: text) {
                    editions.append(edition)
                    text = name
                }
                kept.append(Part(text: text, isBracket: false))
            }
        }
        return (kept, editions)
    }

    private static let features: Set<String> = ["feat", "ft", "featuring"]

    /// The text before ` feat. X`.
    private static func withoutFeatures(_ text: String) -> String {
        for marker in [" feat. ", " feat ", " ft. ", " ft ", " featuring "] {
            if let range = text.firstRange(of: marker), !words(of: String(text[..<range.lowerBound])).isEmpty {
                return String(text[..<range.lowerBound])
            }
        }
        return text
    }

    /// ` - EP`, after a bracket.
    private static func editionAlone(_ text: String) -> String? {
        let words = words(of: text)
        return text.hasPrefix(" - ") && EditionWords.nameEdition(words) ? words.joined() : nil
    }

    /// `Nevermind - 2011 Remaster` or `Nevermind EP`; nil for a text without such an end.
    private static func editionAtEnd(of text: String) -> (name: String, edition: String)? {
        let text = trimmed(text)
        func result(_ name: Substring, _ end: Substring) -> (String, String)? {
            let (words, edition) = (words(of: String(name)), words(of: String(end)))
            guard words != ["the"], !words.isEmpty, EditionWords.nameEdition(edition) else { return nil }
            return (String(name), edition.joined())
        }
        if let dash = text.ranges(of: " - ").last {
            if let found = result(text[..<dash.lowerBound], text[dash.upperBound...]) { return found }
        }
        return text.hasSuffix(" ep") ? result(text.dropLast(3), "ep") : nil
    }

    // MARK: Words

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    /// The words of a folded text. An apostrophe parts no words, and `!` and `$` within a word are letters: P!nk, Ke$ha.
    private static func words(of text: String) -> [String] {
        var (words, word) = ([String](), String.UnicodeScalarView())
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isBeforeWord = index + 1 < scalars.count && isWord(scalars[index + 1])
            if isWord(scalar) || isMark(scalar) && !word.isEmpty {
                word.append(scalar)
            } else if scalar == "!" && isBeforeWord && !word.isEmpty {
                word.append("i")
            } else if scalar == "$" && isBeforeWord {
                word.append("s")
            } else if scalar != "'", scalar != "`", !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// The words without “and” and a leading “the”, unless nothing else is left; long forms in their short ones.
    private static func significant(_ words: [String]) -> [String] {
        var kept = words
        if kept.first == "the", kept.contains(where: { $0 != "the" }) { kept.removeFirst() }
        kept = kept.enumerated().filter { index, word in
            let isBetweenWords =
                index > 0 && index + 1 < kept.count && kept[index - 1].count > 1 && kept[index + 1].count > 1
            return word != "and" && !(word == "n" && isBetweenWords)
        }.map { synonyms[$0.element] ?? $0.element }
        return kept.isEmpty ? words : kept
    }

    private static let synonyms = ["volume": "vol", "part": "pt", "parts": "pt"]

    /// The name as it was written, up to its first edition or featured artist.
    private static func searchText(of text: String, isWhole: Bool) -> String {
        let text = trimmed(text)
        let lower = text.lowercased()
        let editions = isWhole ? [] : [" (", " [", " - "]
        let features = [" feat. ", " ft. ", " featuring ", " (feat", " [feat", " (ft", " [ft"]
        let ends = (editions + features).compactMap { marker -> Int? in
            lower.firstRange(of: marker).map { lower.distance(from: lower.startIndex, to: $0.lowerBound) }
        }
        // Lower case may have another length.
        guard let end = ends.min(), lower.count == text.count, end > 0 else { return text }
        return String(text.prefix(end))
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(
            start[..<(start.lastIndex { !$0.isWhitespace }.map { start.index(after: $0) } ?? start.startIndex)])
    }
}
