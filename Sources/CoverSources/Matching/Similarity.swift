/// How close two different names are.
enum Similarity {
    /// Names with at least this part of their letters in place are close.
    static let threshold = 0.8
    /// Longer names are compared up to here: the distance takes quadratic time.
    private static let maximumLength = 200

    /// Whether two names that are not equal may be misspellings of one, or one the other with an addition. Names that differ in a number
    /// or in a word such as “live” are not close: Vol. 1 is not Vol. 2.
    static func areClose(_ first: FoldedText, _ second: FoldedText) -> Bool {
        guard !first.key.isEmpty, !second.key.isEmpty, numbers(first.words) == numbers(second.words),
            recordings(first.words) == recordings(second.words)
        else { return false }
        return first.bare == second.key || first.key == second.bare || isBeginning(first.words, second.words)
            || isBeginning(second.words, first.words) || ratio(first.key, second.key) >= threshold
    }

    /// Whether a name of at least two words begins the other: “Robert Plant”, “Robert Plant & Alison Krauss”.
    private static func isBeginning(_ first: [String], _ second: [String]) -> Bool {
        first.count > 1 && second.starts(with: first)
    }

    private static func recordings(_ words: [String]) -> Set<String> { TitleWords.recordings.intersection(words) }

    private static func numbers(_ words: [String]) -> [String] {
        words.compactMap { word in
            word.unicodeScalars.allSatisfy { $0.properties.numericType != nil } ? word : nil
        }
    }

    /// 1 less the edit distance (Levenshtein) by the length of the longer text: 1 for equal texts, 0 for different ones.
    static func ratio(_ first: String, _ second: String) -> Double {
        let (first, second) = (Array(first.prefix(maximumLength)), Array(second.prefix(maximumLength)))
        let length = max(first.count, second.count)
        if length == 0 { return 1 }
        var row = Array(0...second.count)
        for (index, character) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return 1 - Double(row[second.count]) / Double(length)
    }
}
