import Files
import Platform

/// Reads and writes the library file: albums as JSON that people can read and edit.
package enum AlbumFile {
    /// Creates the file with the starter albums if there is none.
    /// - Parameter origin: The origin of the starter albums' covers.
    /// - Returns: Whether it was created.
    /// - Throws: `LibraryError`.
    @discardableResult
    package static func createStarters(_ path: String, origin: String = StarterAlbums.origin) throws(LibraryError)
        -> Bool
    {
        let path = FilePath.resolvingLinks(path)
        if exists(path) { return false }
        createDirectory(of: path)
        do throws(SystemError) {
            try AtomicFile(text(of: StarterAlbums.albums(origin: origin)), replacing: path, mode: 0o600).replace()
        } catch {
            throw LibraryError(error)
        }
        return true
    }

    /// Whether there is a library: its file, or a last good copy from which a missing file is restored.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
            || FileManager.default.fileExists(atPath: StateDirectory.path(of: path) + "/last-good.json")
    }

    /// Creates the directory of a library file. A failure shows when the file is written.
    static func createDirectory(of path: String) {
        try? OwnedPath.makeFolders(FilePath.directory(of: path), mode: 0o777)
    }

    /// The albums of a library file, in order, also those without a cover URL. One problem fails the whole file: an album
    /// skipped here would be lost when the library is saved.
    /// - Throws: `LibraryError` with line and column.
    static func read(_ path: String) throws(LibraryError) -> [Album] {
        do throws(ListProblem) {
            var options = ListOptions(format: .json, keepsOtherFields: true, isLibraryFile: true)
            // The albums are in memory anyway. A library that was written must be readable.
            options.limit = .max / 4
            let reader = try AlbumListReader(path: path, options)
            var albums: [Album] = []
            while let elements = try reader.next() {
                for element in elements { albums.append(try album(element, path)) }
            }
            return withUniqueIDs(albums)
        } catch {
            throw .unreadableAlbums("\(error)")
        }
    }

    private static func album(_ element: ListElement, _ path: String) throws(ListProblem) -> Album {
        switch element {
        case .item(let item):
            if let album = item.album { return album }
            throw ListProblem(ListLocation(file: path, line: item.line), "expected an album, found a URL")
        case .problem(var problem):
            if let album = problem.album { return album }
            if problem.message.hasSuffix("; skipped") { problem.message.removeLast("; skipped".count) }
            throw problem
        }
    }

    /// Gives equal albums different ids.
    private static func withUniqueIDs(_ albums: [Album]) -> [Album] {
        var taken: Set<String> = []
        taken.reserveCapacity(albums.count)
        return albums.map { album in
            var album = album
            album.id = Album.unusedID(album.id, &taken)
            return album
        }
    }

    /// The bytes of a library file of these albums, each field on a line.
    package static func text(of albums: [Album]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(albums.count * 256)
        bytes += "[".utf8
        for (index, album) in albums.enumerated() {
            bytes += (index == 0 ? "\n  {\n" : ",\n  {\n").utf8
            for (number, member) in album.members.enumerated() {
                bytes += (number == 0 ? "    " : ",\n    ").utf8
                bytes.append(json: member.name)
                bytes += ": ".utf8
                bytes += member.json.utf8
            }
            bytes += "\n  }".utf8
        }
        bytes += "\n]\n".utf8
        return bytes
    }
}

/// The albums of a library that a person opens before there is one. They are invented, and so are their covers.
package enum StarterAlbums {
    /// The origin of the covers' URLs. It never resolves (RFC 6761 section 6.4): the covers are put into the cache when the
    /// library is created. `sleeve origin` serves them too.
    package static let origin = "https://covers.invalid"

    /// The name of the cover at a starter album's URL, such as `low-tide`; nil for any other URL.
    package static func slug(of url: String) -> String? {
        guard url.hasPrefix(origin + "/starter/"), url.hasSuffix(".jpg") else { return nil }
        return String(url.dropFirst(origin.utf8.count + 9).dropLast(4))
    }

    static func albums(origin: String) -> [Album] {
        rows.map { title, artist, genre, year, slug in
            Album(title: title, artist: artist, genre: genre, coverURL: "\(origin)/starter/\(slug).jpg", year: year)
        }
    }

    private static let rows: [(String, String, String, String, String)] = [
        ("Low Tide", "The Harbour Lights", "Folk", "1971", "low-tide"),
        ("Paper Suns", "Mira Okafor", "Soul", "1974", "paper-suns"),
        ("Night Bus to Ostrava", "Kolej", "Synth-pop", "1983", "night-bus-to-ostrava"),
        ("Four Rooms", "Anselm Quartet", "Jazz", "1962", "four-rooms"),
        ("Gravel and Silk", "June Tallow", "Country", "1988", "gravel-and-silk"),
        ("Understory", "Fern Relay", "Ambient", "2009", "understory"),
        ("Brass Weather", "Salt Street Band", "Brass", "1997", "brass-weather"),
        ("Second Language", "Ines Duarte", "Bossa nova", "1968", "second-language"),
        ("Concrete Choir", "Blockhaus", "Techno", "1994", "concrete-choir"),
        ("The Long Way Up", "Cairn", "Post-rock", "2004", "the-long-way-up"),
        ("Kitchen Songs", "Ada and the Kettles", "Indie", "2015", "kitchen-songs"),
        ("Winter Counterpoint", "Lund Chamber Players", "Classical", "2019", "winter-counterpoint"),
    ]
}
