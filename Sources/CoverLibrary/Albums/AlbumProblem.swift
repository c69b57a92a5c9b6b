/// Why an album cannot be added.
package struct AlbumProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field's name in the library file.
    package var field: String
    /// One line, without the field.
    package var message: String
    package var description: String { "\(field): \(message)" }
}

extension Album {
    /// The album without blanks around its texts.
    /// - Throws: `AlbumProblem`: it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated() throws(AlbumProblem) -> Album {
        var album = self
        album.title = title.trimmingBlanks()
        album.artist = artist.trimmingBlanks()
        album.genre = genre.trimmingBlanks()
        album.year = year.trimmingBlanks()
        album.coverUrl = coverUrl?.trimmingBlanks()
        if album.title.isEmpty { throw AlbumProblem(field: "title", message: "an album needs a title") }
        for (field, text) in [("title", album.title), ("artist", album.artist), ("genre", album.genre)]
        where text.utf8.count > 1_000 {
            throw AlbumProblem(field: field, message: "the \(field) is longer than 1,000 bytes")
        }
        let isYear = album.year.isEmpty || (album.year.count == 4 && album.year.allSatisfy { ("0"..."9").contains($0) })
        if !isYear { throw AlbumProblem(field: "year", message: "the year needs four digits, such as 1999") }
        if album.coverUrl?.isEmpty == true { album.coverUrl = nil }
        if album.coverUrl != nil {
            do { _ = try album.coverKey } catch { throw AlbumProblem(field: "coverUrl", message: error.detail) }
        }
        for url in coverUrls {
            do { _ = try Album(coverUrl: url).coverKey } catch {
                throw AlbumProblem(field: "coverUrls", message: "\(error.url): \(error.detail)")
            }
        }
        _ = try musicBrainzIDs()
        return album
    }
}
