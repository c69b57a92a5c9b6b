/// Why an album cannot be added.
package struct AlbumProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field's name in the library file.
    package var field: String
    /// One line, without the field.
    package var message: String
    package var description: String { "\(field): \(message)" }
}

extension Album {
    /// Checks the album. Returns it without whitespace around its texts.
    /// - Parameters:
    ///   - former: The album before an edit. Problems in fields that the edit does not change are ignored.
    ///   - urlProblem: Why a cover URL cannot be requested, and the URL as a message may repeat it; nil if it can be.
    /// - Throws: `AlbumProblem` if it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated(
        editing former: Album?, urlProblem: (String) -> (url: String, reason: String)?
    ) throws(AlbumProblem) -> Album {
        var album = self
        album.title = title.trimmingWhitespace()
        album.artist = artist.trimmingWhitespace()
        album.genre = genre.trimmingWhitespace()
        album.year = year.trimmingWhitespace()
        album.coverURL = coverURL?.trimmingWhitespace()
        if album.coverURL?.isEmpty == true { album.coverURL = nil }
        let problem = album.problems(urlProblem).first { former?.hasSame($0.field, as: album) != true }
        if let problem { throw problem }
        return album
    }

    private func hasSame(_ field: String, as other: Album) -> Bool {
        if field == CoverField.alternates.rawValue { return alternateCoverURLs == other.alternateCoverURLs }
        return members[field] == other.members[field]
    }

    private func problems(_ urlProblem: (String) -> (url: String, reason: String)?) -> [AlbumProblem] {
        var problems: [AlbumProblem] = []
        func add(_ field: String, _ message: String) { problems.append(AlbumProblem(field: field, message: message)) }
        if title.isEmpty { add("title", "an album needs a title") }
        for (field, text) in [("title", title), ("artist", artist), ("genre", genre)] where text.utf8.count > 1_000 {
            add(field, "the \(field) is longer than 1,000 bytes")
        }
        let isYear = year.isEmpty || (year.count == 4 && year.allSatisfy { ("0"..."9").contains($0) })
        if !isYear { add("year", "the year needs four digits, such as 1999") }
        if let problem = coverURL.flatMap(urlProblem) { add("coverUrl", problem.reason) }
        for problem in alternateCoverURLs.compactMap(urlProblem) {
            add("coverUrls", "\(problem.url): \(problem.reason)")
        }
        do { _ = try musicBrainzIDs() } catch { problems.append(error) }
        // Lists, and programs that read the library file as a list, skip longer elements.
        let size = members.reduce(0) { $0 + $1.name.utf8.count + $1.json.utf8.count + 12 }
        if size > Self.maximumLength {
            let name = members.max { $0.json.utf8.count < $1.json.utf8.count }?.name ?? ""
            add(name.inMessage, "the album's fields take \(size) bytes, of at most 1 MiB (\(Self.maximumLength))")
        }
        return problems
    }
}
