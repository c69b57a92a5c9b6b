import Platform

/// The iTunes Search API (Apple's documentation archive, “iTunes Search API”): about 20 requests a minute, 403 above that. Its
/// artwork exists in any size that the original has; larger numbers give the largest.
extension CoverSource {
    static func iTunes(_ base: String) -> CoverSource {
        CoverSource(
            .itunes, base: base, rate: RateRule(20, in: .seconds(60), pause: .seconds(30)),
            search: { query in
                let (artist, title) = (FoldedText(artist: query.artist), FoldedText(query.title).searchText)
                if title.isEmpty { return nil }
                let term = artist.isVarious || artist.key.isEmpty ? title : "\(artist.searchText) \(title)"
                return url(
                    "\(base)/search", [("term", term), ("media", "music"), ("entity", "album"), ("limit", limit)])
            }, read: readITunes)
    }

    private struct Answer: Decodable {
        struct Album: Decodable {
            var wrapperType: String?
            var artistName, collectionName, artworkUrl100: String
            var releaseDate: String?
            var trackCount: Int?
        }
        var results: LenientArray<Album>
    }

    @Sendable private static func readITunes(_ response: SourceResponse) -> SourceReading {
        if let reading = SourceReading(response, throttling: [403]) { return reading }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
            return .failed("the answer is not that of a search")
        }
        return SourceReading(
            answer.results.values.filter { $0.wrapperType ?? "collection" == "collection" }.map { found in
                let album = AlbumQuery(
                    artist: found.artistName, title: found.collectionName, year: AlbumQuery.year(of: found.releaseDate),
                    trackCount: found.trackCount)
                let pictures = artworkSizes(found.artworkUrl100).filter { Placeholder(url: $0) == nil }
                return SourceCandidate(source: .itunes, album: album, pictures: pictures)
            })
    }

    /// `.../100x100bb.jpg` with larger numbers, the largest first, and as it is; only as it is if its name has no size.
    static func artworkSizes(_ url: String) -> [String] {
        guard let slash = url.lastIndex(of: "/"), url[slash...].dropFirst().hasPrefix("100x100") else { return [url] }
        let end = url[slash...].dropFirst("/100x100".count)
        return ["3000", "1200", "600"].map { "\(url[...slash])\($0)x\($0)\(end)" } + [url]
    }
}
