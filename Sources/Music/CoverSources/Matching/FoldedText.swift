/// A name of an album or an artist as names are compared: folded, without punctuation, a leading “The” and “and”; of a title also without
/// featured artists, carriers, editions, the kind of release and the disc.
///
/// ```
/// The Beatles, Beatles, The                       beatles
/// Simon & Garfunkel, Simon and Garfunkel          simongarfunkel
/// Nevermind (Deluxe Edition), Nevermind [FLAC]    nevermind, and the edition
/// Tapes 007, Tapes VII, Tapes, Seven              tapes7
/// Weezer (Blue Album)                             weezerbluealbum: its bracket names no edition
/// !!!, ( ), ÷                                     the symbols themselves, which are all there is
/// ```
package struct FoldedText: Sendable, Hashable {
    /// Equal for spellings of one name. Empty only if the text is blank.
    package let key: String
    /// The words and numbers that tell the edition, which `key` leaves out, sorted: `anniversary`, `deluxe`.
    package let editions: [String]
    /// The kinds of release that `key` leaves out: `single`, `ep`, `soundtrack`.
    package let kinds: Set<String>
    /// The number or letter of the disc that `key` leaves out; nil if the title names none.
    package let disc: String?
    /// `key` without the other parts in brackets.
    let bare: String
    /// The words of `key`, in order.
    let words: [String]
    /// The name without edition and featured artists as it was written, for searches.
    package let searchText: String

    /// The title of an album.
    /// - Parameter year: that of the same tags: in brackets, before ` - `, or behind a comma, it is no part of the name.
    package init(_ title: String, year: Int? = nil) {
        var title = Self.trimmed(Self.spaced(title))
        var text = ScalarFolding.fold(title)
        guard Self.hasWords(text) else {
            self = Self.symbols(text, title)
            return
        }
        if let year, case let start = "\(year) - ", Self.trimmed(text).hasPrefix(start),
            case let rest = String(Self.trimmed(text).dropFirst(start.count)), Self.hasWords(rest)
        {
            text = rest
            if title.hasPrefix(start) { title = String(title.dropFirst(start.count)) }
        }
        if let year, case let end = ", \(year)", text.hasSuffix(end), Self.hasWords(String(text.dropLast(end.count))) {
            text = String(text.dropLast(end.count))
            if title.hasSuffix(end) { title = String(title.dropLast(end.count)) }
        }
        var (kept, ending) = Self.withoutEndings(Self.parts(of: Self.movingArticle(text)), year)
        if kept.allSatisfy({ Self.words(of: $0.text).isEmpty }) {
            // The name is itself an edition's, such as “Deluxe”.
            (kept, ending) = ([Part(text: text, isBracket: false)], TitleEnding())
        }
        let isLong = kept.reduce(0) { $0 + Self.words(of: $1.text).count } > 1
        let names = kept.map { ($0.isBracket, Self.numbered(Self.words(of: $0.text), isLong: isLong)) }
        let words = Self.significant(names.flatMap(\.1))
        let isWhole = ending == TitleEnding() && Self.words(of: text).count == words.count
        self.init(
            words, bare: Self.significant(names.filter { !$0.0 }.flatMap(\.1)), ending,
            searchText: Self.searchText(of: title, isWhole: isWhole))
    }

    /// The name of an artist: nothing is left out but case, accents, punctuation, “and”, a leading “The”, and the number by which Discogs tells
    /// artists of one name apart.
    package init(artist: String) {
        let artist = Self.withoutNumbers(Self.spaced(artist))
        let text = ScalarFolding.fold(artist)
        guard Self.hasWords(text) else {
            self = Self.symbols(text, artist)
            return
        }
        let parts = text.contains(where: { "([{".contains($0) }) ? Self.parts(of: text) : []
        let bare = parts.filter { !$0.isBracket }.map(\.text).joined(separator: " ")
        self.init(
            Self.significant(Self.words(of: Self.movingArticle(text))),
            bare: parts.count > 1 ? Self.significant(Self.words(of: bare)) : [],
            searchText: Self.withoutFeatures(Self.trimmed(artist)))
    }

    /// `A & B` of `A (2) & B*`.
    private static func withoutNumbers(_ artist: String) -> String {
        guard artist.utf8.contains(where: { $0 == 0x28 || $0 == 0x2A }) else { return artist }
        var kept: [String] = []
        for token in artist.split(separator: " ") {
            let sign = token.last.map { ",;/".contains($0) ? String($0) : "" } ?? ""
            let name = token.dropLast(sign.count)
            let number = name.hasPrefix("(") && name.hasSuffix(")") ? Int(name.dropFirst().dropLast()) : nil
            if let number, (2...99).contains(number), let last = kept.popLast() {
                kept.append(last + sign)
            } else {
                kept.append(name.hasSuffix("*") && hasWords(String(name)) ? name.dropLast() + sign : String(token))
            }
        }
        return kept.joined(separator: " ")
    }

    /// The text with spaces for underscores, unless there is nothing else.
    static func spaced(_ text: String) -> String {
        text.utf8.contains(0x5F) && hasWords(text) ? text.replacing("_", with: " ") : text
    }

    private init(_ words: [String], bare: [String] = [], _ ending: TitleEnding = .init(), searchText: String) {
        (self.words, key) = (words, Self.joined(words))
        self.bare = Self.joined(bare.isEmpty ? words : bare)
        (editions, kinds, disc) = (ending.editions.sorted(), ending.kinds, ending.disc)
        self.searchText = searchText
    }

    /// A name without letters and digits is its symbols.
    private static func symbols(_ folded: String, _ text: String) -> FoldedText {
        let symbols = folded.filter { !$0.isWhitespace }
        return FoldedText(symbols.isEmpty ? [] : [symbols], searchText: trimmed(text))
    }

    /// Whether the names are one collective artist's: Various Artists, in some languages.
    package var isVarious: Bool { Self.various.contains(key) }

    private static let various: Set<String> = [
        "various", "variousartists", "variousartist", "va", "sampler", "compilation", "diverse", "diverseinterpreten",
        "diversekunstler", "verschiedene", "verschiedeneinterpreten", "verschiedenekunstler", "artistesvaries",
        "artistesdivers", "multiinterpretes", "variosartistas", "variosinterpretes", "artistivari", "aavv", "varios",
        "divers", "soundtrack", "originalsoundtrack", "ost", "variousperformers", "разныеисполнители", "群星", "オムニバス",
    ]

    /// Equal for titles that name the same edition, kind and disc of an album.
    package var wholeKey: String {
        ([key] + editions + kinds.sorted() + [disc.map { "disc\($0)" }].compactMap(\.self)).joined(separator: "+")
    }

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

    /// The parts without what is no part of the name, and what that says.
    private static func withoutEndings(_ parts: [Part], _ year: Int?) -> (parts: [Part], ending: TitleEnding) {
        var (kept, all) = ([Part](), TitleEnding())
        func add(_ ending: TitleEnding) {
            all.editions.formUnion(ending.editions)
            all.kinds.formUnion(ending.kinds)
            all.disc = ending.disc ?? all.disc
        }
        for part in parts {
            let words = words(of: part.text)
            if part.isBracket {
                if words.first.map(TitleWords.features.contains) == true { continue }
                if let year, words == ["\(year)"] { continue }
                if let ending = TitleEnding(words, isBracket: true) { add(ending) } else { kept.append(part) }
            } else {
                var text = withoutFeatures(part.text)
                // ` - EP`, after a bracket.
                if !kept.isEmpty, text.hasPrefix(" - "), let ending = TitleEnding(words, isBracket: false) {
                    add(ending)
                    continue
                }
                while let (name, ending) = ending(of: text) {
                    add(ending)
                    text = name
                }
                kept.append(Part(text: text, isBracket: false))
            }
        }
        return (kept, all)
    }

    /// The text before ` feat. X`.
    package static func withoutFeatures(_ text: String) -> String {
        // Searching takes long, and all markers begin with “f”.
        let pairs = zip(text.utf8, text.utf8.dropFirst())
        let hasMarker = pairs.contains { $0 | 0x20 == 0x66 && ($1 | 0x20 == 0x65 || $1 | 0x20 == 0x74) }
        if !hasMarker { return text }
        let lower = text.lowercased()
        // Lower case may have another length.
        guard lower.count == text.count else { return text }
        for marker in [" feat. ", " feat ", " ft. ", " ft ", " featuring ", " (feat", " [feat", " (ft.", " [ft."] {
            if let range = lower.firstRange(of: marker), hasWords(String(lower[..<range.lowerBound])) {
                return String(text.prefix(lower.distance(from: lower.startIndex, to: range.lowerBound)))
            }
        }
        return text
    }

    /// What is behind the last ` - `, a rate behind `@`, an `EP` at the end, or a soundtrack's words; nil for a text without such an end.
    private static func ending(of text: String) -> (name: String, ending: TitleEnding)? {
        let text = trimmed(text)
        for dash in [" - ", ": "] {
            guard let range = text.ranges(of: dash).last, case let name = String(text[..<range.lowerBound]),
                hasWords(name), let ending = TitleEnding(words(of: String(text[range.upperBound...])), isBracket: false)
            else { continue }
            return (name, ending)
        }
        if let range = text.ranges(of: " @").last, case let name = String(text[..<range.lowerBound]), hasWords(name),
            let carrier = TitleEnding(words(of: String(text[range.upperBound...])), isBracket: true)
        {
            return (name, carrier)
        }
        for end in [" ep", " e.p."] where text.hasSuffix(end) {
            let name = String(text.dropLast(end.count))
            if !["the", ""].contains(trimmed(name)) { return (name, TitleEnding(["ep"], isBracket: false) ?? .init()) }
        }
        return soundtrack(of: text)
    }

    /// `Harbour OST`, `Harbour Original Motion Picture Soundtrack`.
    private static func soundtrack(of text: String) -> (name: String, ending: TitleEnding)? {
        let words = text.split(whereSeparator: \.isWhitespace)
        let folded = words.map { Self.words(of: String($0)).joined() }
        let run = folded.reversed().prefix { TitleWords.soundtracks.contains($0) }.count
        guard TitleEnding.isSoundtrack(Array(folded.suffix(run))) else { return nil }
        let starts = ["ost", "soundtrack", "original", "motion", "television", "tv", "music"]
        guard let start = folded.indices.suffix(run).first(where: { starts.contains(folded[$0]) }), start > 0,
            let ending = TitleEnding(Array(folded[start...]), isBracket: false)
        else { return nil }
        let name = words[..<start].joined(separator: " ")
        return hasWords(name) && trimmed(name) != "the" ? (name, ending) : nil
    }

    // MARK: Words

    private static func hasWords(_ text: String) -> Bool { text.unicodeScalars.contains(where: isWord) }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        // Categories are searched for.
        if scalar.isASCII { return isDigit(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII
            && [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// The words of a folded text. An apostrophe parts no words, nor does the point of thousands, and `!` and `$` within a word are letters:
    /// P!nk, Ke$ha.
    static func words(of text: String) -> [String] {
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
            } else if scalar != "'", scalar != "`", !word.isEmpty, !areThousands(scalars, at: index) {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// Whether the comma or point is that of `10,000`.
    private static func areThousands(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
        guard scalars[index] == "," || scalars[index] == ".", index > 0, isDigit(scalars[index - 1]) else {
            return false
        }
        let next = scalars[(index + 1)...]
        return next.prefix(3).count(where: isDigit) == 3 && next.dropFirst(3).first.map(isDigit) != true
    }

    /// The words without “and” and a leading “the”, unless nothing else is left; long forms in their short ones.
    private static func significant(_ words: [String]) -> [String] {
        var kept = words
        if kept.first == "the", kept.contains(where: { $0 != "the" }) { kept.removeFirst() }
        kept = kept.enumerated().filter { index, word in
            let isInside = index > 0 && index + 1 < kept.count
            let isBetweenWords = isInside && kept[index - 1].count > 1 && kept[index + 1].count > 1
            return !(isInside && TitleWords.ands.contains(word)) && !(word == "n" && isBetweenWords)
        }.map(\.element)
        return kept.isEmpty ? words : kept
    }

    /// The words of a part of a title with one form of each number, and of each word for a volume.
    /// - Parameter isLong: Whether the title has other words: “Ten” is a name, “Chicago X” and “Part Ten” have numbers.
    private static func numbered(_ words: [String], isLong: Bool) -> [String] {
        var numbered: [String] = []
        for (index, word) in words.enumerated() {
            let isBehindVolume = index > 0 && TitleWords.volumes.contains(words[index - 1])
            let isNobody = index > 0 && words[index - 1] == "no"
            let number = TitleWords.roman(word) ?? (isNobody ? nil : TitleWords.numberWords[word])
            if let number, isBehindVolume || isLong && index + 1 == words.count && word.count > 1 {
                numbered.append("\(number)")
            } else {
                numbered.append(TitleWords.synonyms[word] ?? withoutZeros(word))
            }
            let isNumber = numbered[index].allSatisfy(\.isNumber)
            if index > 0, isNumber, TitleWords.numberSigns.contains(words[index - 1]) { numbered[index - 1] = "no" }
        }
        return numbered
    }

    /// `007` as `7`.
    static func withoutZeros(_ word: String) -> String {
        guard word.hasPrefix("0"), word.allSatisfy(\.isNumber) else { return word }
        let digits = word.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    /// The words without spaces, except between two numbers.
    private static func joined(_ words: [String]) -> String {
        var text = ""
        for word in words {
            if text.last?.isNumber == true, word.first?.isNumber == true { text += "." }
            text += word
        }
        return text
    }

    // MARK: Searches

    /// The name as it was written, up to its first edition or featured artist.
    private static func searchText(of text: String, isWhole: Bool) -> String {
        let text = withoutFeatures(text)
        let lower = text.lowercased()
        guard !isWhole, lower.count == text.count else { return text }
        let ends = [" (", " [", " - "].compactMap { marker in
            lower.firstRange(of: marker).map { lower.distance(from: lower.startIndex, to: $0.lowerBound) }
        }
        return ends.min().map { $0 > 0 ? String(text.prefix($0)) : text } ?? text
    }

    /// A name as it is ordered: “Harbour Lights” of “The Harbour Lights”, “Impératrice” of “L’Impératrice”. Nil if it has no article, or no
    /// other word.
    package static func withoutArticle(_ name: String) -> String? {
        let name = trimmed(name)
        guard let end = name.prefix(5).firstIndex(where: { $0.isWhitespace || "'’".contains($0) }) else { return nil }
        let (article, rest) = (ScalarFolding.fold(String(name[..<end])), trimmed(String(name[end...].dropFirst())))
        let isArticle = name[end].isWhitespace ? TitleWords.articles.contains(article) : article == "l"
        return isArticle && hasWords(rest) ? rest : nil
    }

    static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(
            start[..<(start.lastIndex { !$0.isWhitespace }.map { start.index(after: $0) } ?? start.startIndex)])
    }
}
