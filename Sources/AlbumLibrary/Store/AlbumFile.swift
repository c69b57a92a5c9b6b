import Platform

/// Reads and writes the library file: albums as JSON that people can read and edit.
package enum AlbumFile {
    /// Creates the file with the starter albums if it is missing.
    /// - Parameter origin: The origin of the starter albums' covers. Default: `http://127.0.0.1:8731`.
    /// - Returns: Whether it was created.
    /// - Throws: `LibraryError`.
    @discardableResult
    package static func createIfMissing(_ path: String, origin: String? = nil) throws(LibraryError) -> Bool {
        let files = FileManager.default
        if files.fileExists(atPath: path) { return false }
        try? files.createDirectory(atPath: AtomicFile.directory(of: path), withIntermediateDirectories: true)
        let albums = StarterAlbums.albums(origin: origin ?? StarterAlbums.defaultOrigin)
        do throws(SystemError) {
            var file = try AtomicFile(text(of: albums), replacing: path)
            try file.replace()
        } catch {
            throw LibraryError(error)
        }
        return true
    }

    /// The albums of a library file, in order, also those without a cover URL. One problem fails the whole file: an album
    /// skipped here would be lost when the library is saved.
    /// - Throws: `LibraryError` with line and column.
    static func read(_ path: String) throws(LibraryError) -> [Album] {
        do throws(ListProblem) {
            let reader = try AlbumListReader(path: path, format: .json, keepsOtherFields: true)
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

    /// Gives equal albums ids of their own.
    private static func withUniqueIDs(_ albums: [Album]) -> [Album] {
        var taken: Set<String> = []
        taken.reserveCapacity(albums.count)
        return albums.map { album in
            var album = album
            album.id = unusedID(album.id, &taken)
            return album
        }
    }

    /// `id`, or the first of `id-2`, `id-3`, … that is not in `taken`. Inserts it there.
    static func unusedID(_ id: String, _ taken: inout Set<String>) -> String {
        var (candidate, number) = (id, 2)
        while !taken.insert(candidate).inserted { (candidate, number) = ("\(id)-\(number)", number + 1) }
        return candidate
    }

    /// The albums as a list of this format.
    package static func text(of albums: [Album], format: ListFormat) -> String {
        switch format {
        case .json: return String(decoding: text(of: albums), as: UTF8.self)
        case .jsonl: return albums.map { $0.json + "\n" }.joined()
        case .csv:
            let rows =
                [["id", "title", "artist", "genre", "year", "coverUrl"]]
                + albums.map { [$0.id, $0.title, $0.artist, $0.genre, $0.year, $0.coverURL ?? ""] }
            // RFC 4180 section 2: lines end with CRLF.
            return rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
        case .urls: return albums.compactMap(\.coverURL).map { $0 + "\n" }.joined()
        }
    }

    private static func quoted(_ field: String) -> String {
        let isPlain = field.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != Byte.quote && byte != Byte.comma && byte != Byte.semicolon
        }
        if isPlain, field == field.trimmingWhitespace() { return field }
        return "\"" + field.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    /// The bytes of a library file of these albums, each field on a line.
    static func text(of albums: [Album]) -> [UInt8] {
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
