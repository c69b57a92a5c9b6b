import Platform

/// A person's own service: it is asked for exactly the artist and the album, and what it has is the cover.
extension CoverSource {
    static func own(_ own: OwnSource, _ base: String) -> CoverSource {
        CoverSource(
            own.name, base: base, rate: nil, readDetails: { readOwn($0, $1, own.pointer) },
            location: Location(
                informant: own.name, lack: "its URL needs what is not known: \(own.fields.joined(separator: ", "))",
                found: "at its URL"
            ) { query in
                guard let url = own.url(for: query, at: base) else { return [] }
                // The years and tracks of the album are no facts of the service.
                let album = AlbumQuery(artist: query.artist, title: query.title)
                let isPicture = own.pointer == nil
                return [
                    SourceCandidate(
                        source: own.name, album: album, pictures: isPicture ? [url] : [], details: isPicture ? nil : url
                    )
                ]
            })
    }

    private static func readOwn(
        _ response: SourceResponse, _ candidate: SourceCandidate, _ pointer: JSONPointer?
    ) -> SourceReading {
        if [404, 410].contains(response.status) { return .notFound }
        if let reading = SourceReading(response, refusing: [403]) { return reading }
        guard let pointer else { return .notFound }
        do {
            guard let text = try pointer.text(in: Data(response.body)), !text.isEmpty else { return .notFound }
            let place = (response.url ?? candidate.details).flatMap { URL(string: $0) }
            guard let url = URL(string: text, relativeTo: place), ["http", "https"].contains(url.scheme?.lowercased())
            else {
                return .failed("what its answer has at \(pointer) is no URL of a picture")
            }
            var found = candidate
            found.pictures = [url.absoluteString].filter { Placeholder(url: $0) == nil && $0.utf8.count <= 8 << 10 }
            found.details = nil
            return .found([found])
        } catch DecodingError.typeMismatch {
            return .failed("what its answer has at \(pointer) is no text")
        } catch {
            return .failed("its answer is no JSON")
        }
    }
}

extension Match {
    /// What a person's own service has, which was asked for the album and for no other, is the album's cover. As a match by names, it yields
    /// if albums of other artists have the same picture.
    static func judge(_ query: AlbumQuery, _ candidate: SourceCandidate, hasNamesake: Bool) -> Match {
        guard candidate.source.isOwn else { return judge(query, candidate.album, hasNamesake: hasNamesake) }
        let fact = Line(.agrees, "your source \(candidate.source) has it for this artist and album")
        return query.hasNamesake
            ? Match(.doubtful, [fact, Line(.silent, "another album of yours has this name")], score: 100)
            : Match(.certain, [fact], score: 140)
    }
}
