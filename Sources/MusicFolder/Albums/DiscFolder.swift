/// The name of a folder, or of an album, that is one disc of several: `CD1`, `Disc 2 - Live`, `Low Tide (Disk 2)`.
package struct DiscFolder: Hashable, Sendable {
    /// What precedes the word for the disc; empty if nothing does.
    package var title: String

    private static let words = ["digital media", "disc", "disk", "cd", "dvd", "vinyl", "side", "volume", "vol"]

    /// Returns nil unless a word for a disc with its number is in `name`.
    package init?(_ name: String) {
        let text = Array(name.lowercased())
        for word in Self.words {
            for start in text.indices where text[start...].starts(with: word) {
                if start > 0, text[start - 1].isLetter || text[start - 1].isNumber { continue }
                let rest = text[(start + word.count)...].drop { " ._-#:".contains($0) }
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                // Sides of vinyl have letters.
                let isSide =
                    ["side", "vinyl"].contains(word) && digits.isEmpty
                    && rest.first.map { ("a"..."h").contains($0) } == true
                guard isSide || (1...3).contains(digits.count) else { continue }
                let after = rest.dropFirst(max(digits.count, 1)).first
                if let after, !" )]}._-,:".contains(after) { continue }
                // Lower case may have another length, so the title is cut from the name by its own characters.
                let title = name.count == text.count ? String(name.prefix(start)) : String(text.prefix(start))
                self.title = String(title.reversed().drop { " ([{-_.,:".contains($0) }.reversed())
                return
            }
        }
        return nil
    }
}
