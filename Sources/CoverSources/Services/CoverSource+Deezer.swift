import Platform

/// The search of Deezer (developers.deezer.com/api/search): 50 requests in 5 seconds for each address. A request above that gets 200 with
/// an error, which says nothing about the album.
extension CoverSource {
    static func deezer(_ base: String) -> CoverSource {
        CoverSource(
            .deezer, base: base, rate: RateRule(50, in: .seconds(5), pause: .seconds(5)),
            search: { query in
                let (artist, title) = (FoldedText(artist: query.artist), FoldedText(query.title).searchText)
                if title.isEmpty { return nil }
                let names = artist.isVarious || artist.key.isEmpty ? "" : "artist:\(deezerPhrase(artist.searchText)) "
                return url(
                    "\(base)/search/album", [("q", "\(names)album:\(deezerPhrase(title))"), ("limit", limit)])
            }, read: readDeezer)
    }

    /// A phrase has no way to write a quotation mark.
    private static func deezerPhrase(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" ? " " : String($0) }.joined() + "\""
    }

    private struct Answer: Decodable {
        struct Album: Decodable {
            struct Artist: Decodable { var name: String }
            var title: String
            var artist: Artist
            var nb_tracks: Int?
            var record_type, release_date, cover_xl, cover_big, cover_medium: String?
        }
        struct Failure: Decodable {
            var code: Int?
            var message: String?
        }
        var data: LenientArray<Album>?
        var error: Failure?
    }

    /// Error codes of Deezer's documentation: a quota is exceeded, the service is busy; no data.
    private static let throttlingCodes: Set<Int> = [4, 700]
    private static let noDataCode = 800

    @Sendable private static func readDeezer(_ response: SourceResponse) -> SourceReading {
        if let reading = SourceReading(response) { return reading }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
            return .failed("the answer is not that of a search")
        }
        if let error = answer.error {
            let detail = "error \(error.code.map { String($0) } ?? "without a code"): \(error.message ?? "")"
            guard let code = error.code else { return .failed(detail) }
            if throttlingCodes.contains(code) { return .throttled(detail) }
            return code == noDataCode ? .notFound : .failed(detail)
        }
        guard let data = answer.data else { return .failed("the answer has no albums") }
        return SourceReading(
            data.values.map { found in
                let album = AlbumQuery(
                    artist: found.artist.name, title: AlbumQuery.title(found.title, kind: found.record_type),
                    year: AlbumQuery.year(of: found.release_date), trackCount: found.nb_tracks)
                let pictures = [found.cover_xl, found.cover_big, found.cover_medium].compactMap { $0 }
                return SourceCandidate(
                    source: .deezer, album: album, pictures: pictures.filter { Placeholder(url: $0) == nil })
            })
    }
}
