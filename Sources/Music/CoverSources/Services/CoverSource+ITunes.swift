import Platform

extension SourceName { package static let itunes = SourceName(rawValue: "itunes") }

/// The iTunes Search API (Apple's documentation archive, “iTunes Search API”): about 20 requests a minute, 403 above that. Its
/// artwork exists in any size that the original has; larger numbers give the largest.
extension CoverSource {
    static func iTunes(_ base: String) -> CoverSource {
        CoverSource(
            .itunes, base: base, rate: RateRule(20, in: .seconds(60), pause: .seconds(30)),
            searches: { query in
                names(of: query).map { artist, title in
                    let term = artist.isEmpty ? title : "\(artist) \(title)"
                    return url(
                        "/search", [("term", term), ("media", "music"), ("entity", "album"), ("limit", limit)])
                }
            }, read: readITunes, readDetails: readITunesSongs)
    }

    private struct Answer: Decodable {
        struct Result: Decodable {
            var wrapperType, artistName, collectionName, artworkUrl100, releaseDate: String?
            var collectionId, trackCount, discNumber, trackNumber, trackTimeMillis: Int?
        }
        var results: LenientArray<Result>

        var albums: [Result] { results.values.filter { $0.wrapperType ?? "collection" == "collection" } }
        /// In order.
        var songs: [Result] {
            results.values.filter { $0.wrapperType == "track" }.sorted {
                ($0.discNumber ?? 1, $0.trackNumber ?? 0) < ($1.discNumber ?? 1, $1.trackNumber ?? 0)
            }
        }
    }

    @Sendable private static func readITunes(_ response: SourceResponse) -> SourceReading {
        .search(response, throttling: [403]) { (answer: Answer) in
            SourceReading(
                answer.albums.compactMap { found in
                    guard let artist = found.artistName, let title = found.collectionName,
                        let artwork = found.artworkUrl100
                    else { return nil }
                    return SourceCandidate(
                        source: .itunes,
                        album: AlbumQuery(
                            artist: artist, title: title, year: AlbumQuery.year(of: found.releaseDate),
                            trackCount: found.trackCount),
                        pictures: artworkSizes(artwork, [3_000, 1_200, 600]),
                        previews: Array(artworkSizes(artwork, [250]).prefix(1)),
                        details: found.collectionId.map {
                            url("/lookup", [("id", "\($0)"), ("entity", "song"), ("limit", "200")])
                        }, id: found.collectionId.map { "\($0)" })
                })
        }
    }

    /// The album and its songs (`lookup`, “entity=song”).
    @Sendable private static func readITunesSongs(_ response: SourceResponse) -> SourceReading {
        .details(response, of: .itunes, throttling: [403]) { (answer: Answer) in
            let songs = answer.songs
            let discs = Dictionary(grouping: songs) { $0.discNumber ?? 1 }.values.map(\.count)
            let album = AlbumQuery(
                artist: "", title: "", trackCounts: Set(discs + [songs.count]),
                lengths: songs.map { $0.trackTimeMillis ?? 0 })
            return (album, [])
        }
    }

    /// `.../100x100bb.jpg` with larger numbers, the largest first, and as it is; only as it is if its name has no size.
    static func artworkSizes(_ url: String, _ sides: [Int]) -> [String] {
        guard let slash = url.lastIndex(of: "/"), url[slash...].dropFirst().hasPrefix("100x100") else { return [url] }
        let end = url[slash...].dropFirst("/100x100".count)
        return sides.map { "\(url[...slash])\($0)x\($0)\(end)" } + [url]
    }
}
