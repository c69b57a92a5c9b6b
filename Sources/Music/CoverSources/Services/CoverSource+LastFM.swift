import Platform

extension SourceName { package static let lastfm = SourceName(rawValue: "lastfm") }
extension SourceKey { static let lastFM = SourceKey("SLEEVE_LASTFM_KEY", .parameter("api_key")) }

/// `album.getInfo` of Last.fm (last.fm/api/show/album.getInfo). Its terms suspend who sends several requests a second for long: one a second
/// here. Errors have a number in the body, and often the status 200.
extension CoverSource {
    static func lastFM(_ base: String) -> CoverSource {
        CoverSource(
            .lastfm, base: base, rate: RateRule(5, in: .seconds(5), pause: .seconds(10)),
            searches: { query in
                names(of: query).map { artist, title in
                    url(
                        "\(base)/2.0/",
                        [
                            ("method", "album.getinfo"), ("artist", artist.isEmpty ? "Various Artists" : artist),
                            ("album", title), ("autocorrect", "1"), ("format", "json"),
                        ])
                }
            }, read: readLastFM)
    }

    private struct Answer: Decodable {
        struct Image: Decodable {
            var url: String
            enum CodingKeys: String, CodingKey { case url = "#text" }
        }
        struct Album: Decodable {
            var name, artist: String
            /// The smallest first.
            var image: LenientArray<Image>?
            var tracks: Tracks?
        }
        /// One song is no array, and an album without songs has an empty text here.
        struct Tracks: Decodable {
            let lengths: [Int]
            private enum CodingKeys: CodingKey { case track }

            init(from decoder: any Decoder) throws {
                let values = try? decoder.container(keyedBy: CodingKeys.self)
                let one = (try? values?.decode(Track.self, forKey: .track)).map { [$0] }
                let tracks = try? values?.decode(LenientArray<Track>.self, forKey: .track).values
                lengths = (tracks ?? one ?? []).map { min(max($0.seconds, 0), 1 << 20) * 1_000 }
            }
        }
        struct Track: Decodable {
            /// 0 if it is unknown. It has been a number and a text.
            let seconds: Int
            private enum CodingKeys: CodingKey { case duration }

            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                let text = try? values.decode(String.self, forKey: .duration)
                seconds = (try? values.decode(Int.self, forKey: .duration)) ?? text.flatMap { Int($0) } ?? 0
            }
        }
        var album: Album?
        var error: Int?
        var message: String?
    }

    @Sendable private static func readLastFM(_ response: SourceResponse) -> SourceReading {
        // The status of an album that it does not have, and that of a key that it does not know or has suspended.
        if response.status == 404 { return .notFound }
        return .search(response, refusing: [403]) { (answer: Answer) in
            let detail = "error \(answer.error ?? 0): \(answer.message ?? "")"
            switch answer.error {
            case nil: break
            // It has no such album; the key is wrong or suspended; too many requests.
            case 6: return .notFound
            case 4, 10, 26: return .refused(detail)
            case 29: return .throttled(detail)
            default: return .failed(detail)
            }
            guard let found = answer.album else { return .failed("the answer has no album") }
            let lengths = found.tracks?.lengths ?? []
            let album = AlbumQuery(
                artist: found.artist, title: found.name, trackCount: lengths.count, lengths: lengths)
            let images = (found.image?.values ?? []).map(\.url).filter { !$0.isEmpty && Placeholder(url: $0) == nil }
            return SourceReading([
                SourceCandidate(
                    source: .lastfm, album: album, pictures: images.last.map(lastFMSizes) ?? [])
            ])
        }
    }

    /// The largest size that it names, and before that the same without a size, which is the picture as it was given.
    private static func lastFMSizes(_ url: String) -> [String] {
        let original = url.replacing("/300x300/", with: "/")
        return original == url ? [url] : [original, url]
    }
}
