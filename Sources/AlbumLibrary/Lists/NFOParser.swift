/// Reads `album.nfo`, as Kodi, Jellyfin and Lidarr write it beside an album: one XML document of one album or several.
///
/// ```xml
/// <album>
///   <title>Low Tide</title> <artist>The Harbour Lights</artist> <year>1971</year>
///   <musicbrainzalbumid>…</musicbrainzalbumid> <musicbrainzreleasegroupid>…</musicbrainzreleasegroupid>
///   <thumb>https://example.org/low-tide.jpg</thumb>
/// </album>
/// ```
struct NFOParser: ListParser {
    static let element = "the document"
    static let decodesText = true

    private(set) var location: ListLocation
    private var isDone = false

    init(file: String) { location = ListLocation(file: file, line: 1) }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        guard isLast else { return 0 }
        try read(DecodedText.utf8(ofXML: bytes), into: &elements)
        return bytes.count
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {}

    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? { nil }

    private func read(_ document: [UInt8], into elements: inout [ListElement]) throws(ListProblem) {
        var reader = XMLReader(document)
        var (open, found): ([String], NFOAlbum?) = ([], nil)
        var (start, text, hasRoot) = (0, "", false)
        do throws(XMLReader.SyntaxError) {
            while true {
                let offset = reader.offset
                guard let token = try reader.next() else { break }
                switch token {
                case .text(let more):
                    // Kodi allows an address after the document.
                    if found != nil { text += more }
                case .open(let name, let attributes, let isEmpty):
                    let name = name.lowercased()
                    if open.isEmpty, !["album", "musicdb", "albums"].contains(name) {
                        throw XMLReader.SyntaxError(message: Self.wrongRoot(name), offset: offset)
                    }
                    if open.count >= 64 {
                        throw XMLReader.SyntaxError(message: "its elements are nested too deeply", offset: offset)
                    }
                    (text, hasRoot) = ("", true)
                    if name == "album", open.count <= 1 { (found, start) = (NFOAlbum(), offset) }
                    found?.attributes = attributes
                    if !isEmpty { open.append(name) }
                case .close(let name):
                    // What is closed in the wrong order ends what is open inside it.
                    guard let index = open.lastIndex(of: name.lowercased()) else { continue }
                    let path = open[...index]
                    open.removeSubrange(index...)
                    if path.last == "album", path.count <= 2, let album = found?.album {
                        elements.append(.album(album, self.location(start, in: document)))
                        found = nil
                    } else if let root = path.lastIndex(of: "album") {
                        found?.set(path[(root + 1)...].joined(separator: "/"), text.trimmingWhitespace())
                    }
                    text = ""
                }
            }
        } catch {
            throw ListProblem(location(error.offset, in: document), error.message)
        }
        if let name = open.last {
            throw ListProblem(location(document.count, in: document), "the element <\(name.inMessage)> is never closed")
        }
        if elements.isEmpty {
            throw ListProblem(location, "\(hasRoot ? "has no <album>" : "is HTML or XML"); \(DetectedFormat.expected)")
        }
    }

    private static func wrongRoot(_ name: String) -> String {
        name == "artist"
            ? "is about an artist; the album is in album.nfo" : "is HTML or XML; \(DetectedFormat.expected)"
    }

    private func location(_ offset: Int, in document: [UInt8]) -> ListLocation {
        ListLocation(file: location.file, line: 1 + document[..<offset].count { $0 == Byte.newline })
    }
}

/// The elements of an `<album>`.
private struct NFOAlbum {
    /// Those of the element that was opened last.
    var attributes: [String: String] = [:]
    private var texts: [String: [String]] = [:]
    private var covers: [String] = []

    /// - Parameter path: names from the one below `<album>`.
    mutating func set(_ path: String, _ text: String) {
        if text.isEmpty { return }
        if path == "thumb" {
            // `aspect` says what another picture shows: `back`, `spine`, `discart`.
            let aspect = attributes["aspect"]?.lowercased() ?? ""
            if text.isURL, ["", "thumb", "front", "poster"].contains(aspect), !covers.contains(text) {
                covers.append(text)
            }
        } else {
            texts[path, default: []].append(text)
        }
    }

    private func first(_ names: String...) -> String { names.lazy.compactMap { texts[$0]?.first }.first ?? "" }

    var album: Album {
        var album = Album(title: first("title"), genre: (texts["genre"] ?? []).joined(separator: ", "))
        let artists = ["albumartist", "artist", "albumartistcredits/artist"].lazy.compactMap { texts[$0] }.first
        album.artist = artists?.joined(separator: ", ") ?? ""
        // Kodi's display name; Lidarr writes the artist's biography there.
        let described = first("artistdesc")
        let isName = !described.isEmpty && described.utf8.count < 100 && !described.contains("\n")
        if album.artist.isEmpty, isName { album.artist = described }
        let years = ["year", "originalreleasedate", "releasedate", "premiered"].lazy.compactMap { texts[$0]?.first }
        album.year = years.compactMap(ListField.year).first ?? ""
        if let cover = covers.first { album.coverURL = cover }
        if covers.count > 1 { album.alternateCoverURLs = Array(covers.dropFirst()) }
        let (release, group) = (first("musicbrainzalbumid"), first("musicbrainzreleasegroupid"))
        // Lidarr names no artist, and its only id is the release group's.
        if group.isEmpty, artists == nil {
            album.addMusicBrainzID(release, .releaseGroup)
        } else {
            album.addMusicBrainzID(release, .release)
            album.addMusicBrainzID(group, .releaseGroup)
        }
        return album
    }
}
