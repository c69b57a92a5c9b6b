/// The albums that the comments of an M3U playlist describe. Each cover is one album, however many entries follow.
///
///     #EXTALB:Low Tide
///     #EXTART:The Harbour Lights
///     #EXTALBUMARTURL:https://example.org/low-tide.jpg
///     01 Ebb.flac
struct Playlist {
    private var title = ""
    private var artist = ""
    private var genre = ""
    /// A cover whose album may still get its texts: they precede the entry.
    private var pending: (url: String, line: Int)?
    private var last: Album?
    /// A cover was named, so that the entries are tracks and no covers.
    private(set) var namesCovers = false

    /// Reads a comment that begins with `#EXT`. - Returns: the album that it ends, as an entry does.
    mutating func read(_ text: String, line: Int) -> ListElement? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = String(text[text.index(after: colon)...]).trimmingWhitespace()
        switch text[..<colon].uppercased() {
        case "#EXTALB": title = value
        case "#EXTART": artist = value
        case "#EXTGENRE": genre = value
        case "#EXTALBUMARTURL" where !value.isEmpty:
            let former = takeAlbum()
            (pending, namesCovers) = ((value, line), true)
            return former
        default: break
        }
        return nil
    }

    /// The album whose cover was named last, unless the one before it is the same.
    mutating func takeAlbum() -> ListElement? {
        guard let (url, line) = pending else { return nil }
        pending = nil
        let album = Album(title: title, artist: artist, genre: genre, coverURL: url)
        if album == last { return nil }
        last = album
        return .item(ListItem(url: url, album: title.isEmpty ? nil : album, line: line))
    }
}
