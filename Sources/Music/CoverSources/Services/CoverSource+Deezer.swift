import Platform

extension SourceName { package static let deezer = SourceName(rawValue: "deezer") }

/// The search of Deezer (developers.deezer.com/api/search): 50 requests in 5 seconds for each address. A request above that gets 200 with
/// an error, which says nothing about the album.
extension CoverSource {
    static func deezer(_ base: String) -> CoverSource {
        CoverSource(
            .deezer, base: base, rate: RateRule(50, in: .seconds(5), pause: .seconds(5)),
            searches: { query in
                names(of: query).map { artist, title in
                    let names = artist.isEmpty ? "" : "artist:\(deezerPhrase(artist)) "
                    return url(
                        "/search/album", [("q", "\(names)album:\(deezerPhrase(title))"), ("limit", limit)])
                }
            }, read: readDeezer, readDetails: readDeezerAlbum)
    }

    /// A phrase has no way to write a quotation mark.
    private static func deezerPhrase(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" ? " " : String($0) }.joined() + "\""
    }

    private struct Answer: Decodable {
        struct Artist: Decodable { var name: String }
        struct Album: Decodable {
            var title: String
            var artist: Artist
            var id, nb_tracks: Int?
            var record_type, release_date, cover_xl, cover_big, cover_medium: String?
        }
        struct Failure: Decodable {
            var code: Int?
            var message: String?
        }
        var data: LenientArray<Album>?
        var error: Failure?
    }

    /// `album/ID` has what a search leaves out: the date, and the songs' lengths in seconds.
    private struct Album: Decodable {
        struct Song: Decodable { var duration: Int? }
        struct Songs: Decodable { var data: LenientArray<Song>? }
        var title: String
        var release_date: String?
        var contributors: LenientArray<Answer.Artist>?
        var tracks: Songs?
    }

    @Sendable private static func readDeezerAlbum(_ response: SourceResponse) -> SourceReading {
        if let error = (try? JSONDecoder().decode(Answer.self, from: Data(response.body)))?.error {
            return reading(error)
        }
        return .details(response, of: .deezer) { (found: Album) in
            let album = AlbumQuery(
                artist: "", otherArtists: (found.contributors?.values ?? []).map(\.name), title: "",
                year: AlbumQuery.year(of: found.release_date),
                lengths: (found.tracks?.data?.values ?? []).map { min(max($0.duration ?? 0, 0), 1 << 20) * 1_000 })
            return (album, [])
        }
    }

    /// Error codes of Deezer's documentation: a quota is exceeded, the service is busy; no data.
    private static let throttlingCodes: Set<Int> = [4, 700]
    private static let noDataCode = 800

    private static func reading(_ error: Answer.Failure) -> SourceReading {
        let detail = "error \(error.code.map { String($0) } ?? "without a code"): \(error.message ?? "")"
        guard let code = error.code else { return .failed(detail) }
        if throttlingCodes.contains(code) { return .throttled(detail) }
        return code == noDataCode ? .notFound : .failed(detail)
    }

    @Sendable private static func readDeezer(_ response: SourceResponse) -> SourceReading {
        .search(response) { (answer: Answer) in
            if let error = answer.error { return reading(error) }
            guard let data = answer.data else { return .failed("the answer has no albums") }
            return SourceReading(
                data.values.map { found in
                    let album = AlbumQuery(
                        artist: found.artist.name, title: AlbumQuery.title(found.title, kind: found.record_type),
                        year: AlbumQuery.year(of: found.release_date), trackCount: found.nb_tracks)
                    let pictures = [found.cover_xl, found.cover_big, found.cover_medium].compactMap { $0 }
                    return SourceCandidate(
                        source: .deezer, album: album, pictures: pictures,
                        previews: [found.cover_medium ?? pictures.last].compactMap(\.self),
                        details: found.id.map { "/album/\($0)" }, id: found.id.map { "\($0)" })
                })
        }
    }
}
