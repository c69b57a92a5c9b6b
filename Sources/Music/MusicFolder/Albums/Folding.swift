import AlbumLibrary
import CoverSources

/// Texts as they are compared to group files. `String` itself compares by canonical equivalence, so NFC and NFD are equal.
///
/// `FoldedText` of CoverSources finds what a service may mean, and leaves out editions and punctuation. These tell a person's albums apart.
package enum Folding {
    /// The text without case, and with one space for each run of blanks.
    package static func key(_ text: String) -> String {
        let text = text.lowercased()
        guard text.contains(where: { $0.isWhitespace }) else { return text }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// `Various Artists` for its usual spellings.
    static func albumArtist(_ artist: String) -> String {
        FoldedText(artist: artist).isVarious ? MainArtist.various : artist
    }

    /// The most common text that is not empty, the first of several; empty if there is none.
    /// - Parameter texts: With the number of times that each is there.
    static func mostCommon(_ texts: [(text: String, count: Int)]) -> String {
        if texts.count == 1 { return texts[0].text }
        var (counts, order): ([String: Int], [String]) = ([:], [])
        for (text, count) in texts where !text.isEmpty {
            if counts[text] == nil { order.append(text) }
            counts[text, default: 0] += count
        }
        var best = ""
        for text in order where counts[text, default: 0] > counts[best, default: 0] { best = text }
        return best
    }
}
