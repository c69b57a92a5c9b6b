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
                        "\(base)/search", [("term", term), ("media", "music"), ("entity", "album"), ("limit", limit)])
                }
            }, form: Answer.self, read: { readITunes($0, base) }, detailsForm: Answer.self, readDetails: readITunesSongs
        )
    }

    private struct Answer: Codable {
        struct Result: Codable {
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

    private static func readITunes(_ response: SourceResponse, _ base: String) -> SourceReading {
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
                        pictures: artworkSizes(artwork, [3_000, 1_200, 600]).filter { Placeholder(url: $0) == nil },
                        previews: artworkSizes(artwork, [250]).prefix(1).filter { Placeholder(url: $0) == nil },
                        details: found.collectionId.map {
                            url("\(base)/lookup", [("id", "\($0)"), ("entity", "song"), ("limit", "200")])
                        }, id: found.collectionId.map { "\($0)" })
                })
        }
    }

    /// The album and its songs (`lookup`, “entity=song”).
    @Sendable private static func readITunesSongs(
        _ response: SourceResponse, _ candidate: SourceCandidate
    ) -> SourceReading {
        .details(response, throttling: [403]) { body in
            guard let songs = try? JSONDecoder().decode(Answer.self, from: body).songs else { return nil }
            var candidate = candidate
            candidate.album.lengths = songs.map { $0.trackTimeMillis ?? 0 }
            let discs = Dictionary(grouping: songs) { $0.discNumber ?? 1 }.values.map(\.count)
            candidate.album.trackCounts.formUnion(discs + [songs.count].filter { $0 > 0 })
            return candidate
        }
    }

    /// `.../100x100bb.jpg` with larger numbers, the largest first, and as it is; only as it is if its name has no size.
    static func artworkSizes(_ url: String, _ sides: [Int]) -> [String] {
        guard let slash = url.lastIndex(of: "/"), url[slash...].dropFirst().hasPrefix("100x100") else { return [url] }
        let end = url[slash...].dropFirst("/100x100".count)
        return sides.map { "\(url[...slash])\($0)x\($0)\(end)" } + [url]
    }
}
