import Platform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The library file: albums as JSON that people can read and edit.
package enum AlbumFile {
    /// Creates the file with the starter albums unless it exists.
    /// - Parameter origin: the origin of the starter albums' covers, such as `http://127.0.0.1:8731`.
    /// - Returns: whether it was created.
    /// - Throws: `LibraryError`.
    @discardableResult
    package static func createIfMissing(_ path: String, origin: String? = nil) throws -> Bool {
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
    /// - Throws: `LibraryError`, with line and column.
    static func read(_ path: String) throws -> [Album] {
        do throws(ListProblem) {
            let reader = try AlbumListReader(path: path, format: .json, keepsOtherFields: true)
            var albums: [Album] = []
            while let elements = try reader.next() {
                for element in elements { albums.append(try album(element, path)) }
            }
            return withUniqueIDs(albums)
        } catch {
            throw LibraryError(message: "\(error)")
        }
    }

    private static func album(_ element: ListElement, _ path: String) throws(ListProblem) -> Album {
        switch element {
        case .item(let item):
            if let album = item.album { return album }
            throw ListProblem(
                place: ListPlace(file: path, line: item.line), message: "expected an album, found a URL")
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
            album.id = unusedID(album.id) { taken.contains($0) }
            taken.insert(album.id)
            return album
        }
    }

    /// `id`, or the first of `id-2`, `id-3`, … that is not taken.
    static func unusedID(_ id: String, _ isTaken: (String) -> Bool) -> String {
        var (candidate, number) = (id, 2)
        while isTaken(candidate) { (candidate, number) = ("\(id)-\(number)", number + 1) }
        return candidate
    }

    /// These albums as a list.
    package static func text(of albums: [Album], format: ListFormat) -> String {
        switch format {
        case .json: return String(decoding: text(of: albums), as: UTF8.self)
        case .jsonl: return albums.map { $0.json + "\n" }.joined()
        case .csv:
            let rows =
                [["id", "title", "artist", "genre", "year", "coverUrl"]]
                + albums.map { [$0.id, $0.title, $0.artist, $0.genre, $0.year, $0.coverUrl ?? ""] }
            // RFC 4180 section 2: lines end with CRLF.
            return rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
        case .urls: return albums.compactMap(\.coverUrl).map { $0 + "\n" }.joined()
        }
    }

    private static func quoted(_ field: String) -> String {
        let isPlain = field.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != Byte.quote && byte != Byte.comma && byte != Byte.semicolon
        }
        if isPlain, field == field.trimmingBlanks() { return field }
        return "\"" + field.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    /// The library file of these albums, each field on a line.
    static func text(of albums: [Album]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(albums.count * 256)
        bytes += "[".utf8
        for (position, album) in albums.enumerated() {
            bytes += (position == 0 ? "\n  {\n" : ",\n  {\n").utf8
            for (number, member) in album.members.enumerated() {
                bytes += (number == 0 ? "    " : ",\n    ").utf8
                JSONText.append(member.name, to: &bytes)
                bytes += ": ".utf8
                member.value.append(to: &bytes)
            }
            bytes += "\n  }".utf8
        }
        bytes += "\n]\n".utf8
        return bytes
    }
}
