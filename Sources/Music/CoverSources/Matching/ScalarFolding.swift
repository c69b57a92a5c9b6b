/// Folds texts so that spellings of one name become equal: case, the diacritics of Latin and Greek letters, compatibility forms such as
/// full-width letters, ligatures and superscripts (Unicode Standard Annex 15, form NFKD, as far as names of albums need it).
///
/// The marks of other scripts tell words apart and stay: か is not が. Swift compares texts by canonical equivalence, so it does not matter
/// whether such a mark is a scalar of its own.
///
/// Foundation's compatibility mapping needs ICU, which release builds do not link. The names of the Unicode Character Database say the same:
/// `LATIN SMALL LETTER E WITH ACUTE` is an e.
enum ScalarFolding {
    /// The text in lower case, folded. Spaces and punctuation stay.
    static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = String.UnicodeScalarView()
        // Marks of a letter of these scripts are dropped.
        var dropsMarks = true
        for scalar in text.unicodeScalars {
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                if isMark(lower) {
                    // ё is often written without its dots, й is another letter than и.
                    let isDiaeresis = lower.value == 0x308 && folded.last == "е"
                    if !dropsMarks && !isDiaeresis { folded.append(lower) }
                } else {
                    let letters = letters(of: lower)
                    folded.append(contentsOf: letters)
                    dropsMarks = letters.last.map(losesMarks) ?? false
                }
            }
        }
        return String(folded)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { (0x300...0x36F).contains(scalar.value) }

    /// Whether it is a Latin or a Greek letter.
    private static func losesMarks(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x250 || (0x370..<0x400).contains(scalar.value)
    }

    /// What a lower-case scalar stands for.
    private static func letters(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.value < 0x80 { return [scalar] }
        if let known = table[scalar] { return Array(known.unicodeScalars) }
        switch scalar.value {
        // Full-width forms of ASCII.
        case 0xFF01...0xFF5E: return Unicode.Scalar(scalar.value - 0xFEE0).map { letters(of: $0) } ?? [scalar]
        case 0x2170...0x217B: return Array(TitleWords.roman(Int(scalar.value - 0x216F)).unicodeScalars)
        default: break
        }
        let properties = scalar.properties
        if properties.numericType == .digit || properties.numericType == .decimal, let value = properties.numericValue,
            let digit = Unicode.Scalar(UInt32(0x30 + Int(value))), value < 10
        {
            return [digit]
        }
        guard let name = properties.name else { return [scalar] }
        if name.hasPrefix("LATIN SMALL LETTER AE WITH") { return ["a", "e"] }
        return letter(named: name).map { [$0] } ?? [scalar]
    }

    /// The base letter of `LATIN SMALL LETTER E WITH ACUTE` or of `HALFWIDTH KATAKANA LETTER A`; nil for other names.
    private static func letter(named name: String) -> Unicode.Scalar? {
        if name.hasPrefix("HALFWIDTH KATAKANA LETTER ") { return scalars[String(name.dropFirst(10))] }
        if name.hasPrefix("MATHEMATICAL ") || name.hasPrefix("CIRCLED LATIN "),
            let last = name.split(separator: " ").last, last.count == 1
        {
            return Unicode.Scalar(last.lowercased())
        }
        guard name.hasPrefix("LATIN SMALL LETTER ") || name.hasPrefix("GREEK SMALL LETTER ") else { return nil }
        let base = name.split(separator: " ").prefix { $0 != "WITH" }.joined(separator: " ")
        if base == name { return nil }
        if name.hasPrefix("GREEK") { return scalars[base] }
        let letter = base.dropFirst("LATIN SMALL LETTER ".count)
        return letter.count == 1 ? Unicode.Scalar(letter.lowercased()) : nil
    }

    /// Greek small letters and katakana by their names.
    private static let scalars: [String: Unicode.Scalar] = {
        let ranges: [ClosedRange<UInt32>] = [0x3B1...0x3C9, 0x30A1...0x30FA]
        return ranges.joined().compactMap { Unicode.Scalar($0) }.reduce(into: [:]) { names, scalar in
            if let name = scalar.properties.name { names[name] = scalar }
        }
    }()

    /// Letters that are written as two, letters whose names say nothing of a base, and punctuation with a plain form.
    private static let table: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ſ": "s", "ŋ": "n", "ĳ": "ij", "ŉ": "n",
        "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "µ": "μ", "ς": "σ", "ё": "е",
        "‘": "'", "’": "'", "ʼ": "'", "‛": "'", "´": "'", "ʻ": "'", "′": "'",
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "…": "...", "\u{3000}": " ",
        "\u{A0}": " ",
        "【": "[", "】": "]", "「": "[", "」": "]", "『": "[", "』": "]", "〈": "[", "〉": "]", "《": "[", "》": "]",
        "\u{FF9E}": "\u{3099}", "\u{FF9F}": "\u{309A}", "ｰ": "ー", "™": "", "®": "", "©": "", "\u{200B}": "",
        "\u{FEFF}": "",
        "\u{AD}": "", "\u{FE0E}": "", "\u{FE0F}": "",
    ]
}
