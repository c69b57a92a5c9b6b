import CoverSources
import Platform

/// The name of a folder, or the end of an album's title, that says which disc of several it is: `CD1`, `Disc 2 - Live`, `Low Tide (Disk 2)`.
struct DiscName: Hashable {
    /// What precedes the word for the disc; empty if nothing does.
    var title: String
    /// From 1; letters count, too.
    var number: Int
    /// Whether the word says nothing but disc. Volumes, sides and parts are often albums.
    var isStrong: Bool
    /// Whether a bracket or a sign parts it from the title.
    var isParted: Bool

    /// The words, and whether they are strong.
    private static let disc: [(word: String, isStrong: Bool)] =
        (TitleWords.discs.sorted() + ["digital media"]).map { ($0, true) }
        + ["volume", "vol", "vinyl", "side", "book", "part", "lp"].map { ($0, false) }

    /// By which the names of discs' folders are ordered: numbers and words for numbers count as such.
    static func order(_ name: [UInt8]) -> String {
        var (words, word) = ([String](), "")
        for character in String(decoding: name, as: UTF8.self).lowercased() + " " {
            let isOther =
                word.last.map { $0.isNumber != character.isNumber || $0.isLetter != character.isLetter } ?? false
            if isOther {
                let number = Int(word) ?? TitleWords.number(word)
                words.append(number.map { String(repeating: "0", count: max(0, 9 - "\($0)".count)) + "\($0)" } ?? word)
                word = ""
            }
            if character.isLetter || character.isNumber { word.append(character) }
        }
        return words.joined(separator: " ")
    }

    /// Returns nil unless the name ends with a word for a disc and its number, and what the disc is called.
    init?(_ name: String) {
        let text = Array(name.lowercased())
        let starts = text.indices.filter { index in
            text[index].isLetter && (index == 0 || !text[index - 1].isLetter && !text[index - 1].isNumber)
        }
        for (word, isStrong) in Self.disc {
            for start in starts where text[start...].starts(with: word) {
                guard let number = Self.number(text[(start + word.count)...]) else { continue }
                // Lower case may have another length.
                let before = name.count == text.count ? Array(name.prefix(start)) : Array(text[..<start])
                let last = before.last { $0 != " " }
                let isBracket = last.map { "([{".contains($0) } ?? false
                // A bracket ends with the name.
                if isBracket, let end = text.last(where: { $0 != " " }), !")]}".contains(end) { continue }
                title = String(before.reversed().drop { " ([{-–—_.,:/".contains($0) }.reversed())
                isParted = isBracket || last.map { "-–—,:/".contains($0) } ?? true
                (self.number, self.isStrong) = (number, isStrong)
                return
            }
        }
        return nil
    }

    /// The number that follows the word, if it is a whole word.
    private static func number(_ text: ArraySlice<Character>) -> Int? {
        let rest = text.drop { " ._-#:".contains($0) }
        let token = rest.prefix { $0.isLetter || $0.isNumber }
        var after = rest.dropFirst(token.count).drop { $0 == " " }
        if after.starts(with: "of ") || after.first == "/" {
            after = after.drop { !$0.isNumber }.drop { $0.isNumber }.drop { $0 == " " }
        }
        if let sign = after.first, !")]}._-–—,:([{".contains(sign) { return nil }
        let word = String(token)
        if token.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return token.count <= 2 ? Int(word).flatMap { $0 > 0 ? $0 : nil } : nil
        }
        // "Discs" and "Volumes" are other words.
        guard rest.startIndex > text.startIndex else { return nil }
        if let number = TitleWords.number(word) { return number }
        guard word.utf8.count == 1, let letter = word.utf8.first, (0x61...0x68).contains(letter) else { return nil }
        return Int(letter) - 0x60
    }
}

/// The ends of albums' titles that say which disc of several they are.
struct TitleEndings {
    private var endings: [String: DiscName] = [:]
    /// The numbers that folded titles have in a folder, or in folders beside each other.
    private var numbers: [BytePath: [String: Set<Int>]] = [:]

    init(_ tree: FolderTree) {
        for folder in tree.paths {
            for title in Set(tree[folder].tags.lazy.map(\.album)) {
                guard let ending = DiscName(title), ending.isStrong, !ending.title.isEmpty else { continue }
                endings[title] = ending
                for place in [folder, folder.parent].compactMap(\.self) {
                    numbers[place, default: [:]][Folding.key(ending.title), default: []].insert(ending.number)
                }
            }
        }
    }

    /// The disc that the end of a title says: in brackets or behind a sign; else if the first disc is beside it. A series may have the word
    /// in its name.
    func disc(_ title: String, in folder: BytePath) -> DiscName? {
        guard let ending = endings[title], !ending.isParted else { return endings[title] }
        let areDiscs = [folder, folder.parent].compactMap(\.self).contains { place in
            let found = numbers[place]?[Folding.key(ending.title)] ?? []
            return found.count > 1 && found.contains(1)
        }
        return areDiscs ? ending : nil
    }
}
