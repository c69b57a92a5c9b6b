import Platform

extension SourceName { package static let discogs = SourceName(rawValue: "discogs") }
extension SourceKey { static let discogs = SourceKey("SLEEVE_DISCOGS_TOKEN", scheme: "Discogs token=") }

/// The database of Discogs (discogs.com/developers): 60 requests a minute with a token, which its searches need, 429 above that. Its releases
/// of one album belong to a “master”, whose year is that of the first.
extension CoverSource {
    static func discogs(_ base: String) -> CoverSource {
        CoverSource(
            .discogs, base: base, rate: RateRule(60, in: .seconds(60), pause: .seconds(30)),
            searches: { query in
                names(of: query).map { artist, title in
                    let artist = artist.isEmpty ? [] : [(name: "artist", value: artist)]
                    return url("/database/search", artist + [("release_title", title), ("per_page", limit)])
                }
            }, read: readDiscogs, readDetails: readDiscogsAlbum)
    }

    /// What it answers to a wrong token, and to one without rights.
    private static let refusals: Set<Int> = [401, 403]

    private struct Answer: Decodable {
        struct Result: Decodable {
            var title, type: String
            var id: Int
            var master_id: Int?
            var year, cover_image: String?
            var format: [String]?

            var isMaster: Bool { type == "master" }
            /// Whose details are the album's; `""` for what is no album.
            var path: String {
                if let master_id, master_id > 0 { return "masters/\(master_id)" }
                return isMaster ? "masters/\(id)" : type == "release" ? "releases/\(id)" : ""
            }
            var kind: String? { format?.first { ["Single", "EP", "Album", "LP"].contains($0) } }
        }
        var results: LenientArray<Result>
    }

    /// One candidate for all releases of an album.
    @Sendable private static func readDiscogs(_ response: SourceResponse) -> SourceReading {
        .search(response, refusing: refusals) { (answer: Answer) in
            let results = answer.results.values.filter(\.isMaster) + answer.results.values.filter { !$0.isMaster }
            var seen: Set<String> = [""]
            return SourceReading(
                results.filter { seen.insert($0.path).inserted }.map { found in
                    // “Artist - Title”.
                    let parts = found.title.split(separator: " - ", maxSplits: 1).map(String.init)
                    // That of one release says little of an album that has others.
                    let year = found.isMaster || found.path.hasPrefix("releases") ? found.year : nil
                    let album = AlbumQuery(
                        artist: parts.count == 2 ? discogsName(parts[0]) : "",
                        title: AlbumQuery.title(parts.last ?? "", kind: found.kind), year: AlbumQuery.year(of: year))
                    return SourceCandidate(
                        source: .discogs, album: album, pictures: [found.cover_image].compactMap(\.self),
                        details: "/\(found.path)", id: found.path)
                })
        }
    }

    /// A name without what tells it from others of the same name, and without the mark of a variation: `Nirvana (2)`, `Nirvana*`.
    private static func discogsName(_ name: String) -> String {
        name.replacing(#/\*| \(\d+\)/#, with: "")
    }

    private struct Album: Decodable {
        struct Artist: Decodable {
            var name: String
            var anv, join: String?
        }
        struct Track: Decodable { var type_, duration: String? }
        struct Image: Decodable { var type, uri: String? }
        var title: String
        var year: Int?
        var artists: LenientArray<Artist>?
        var tracklist: LenientArray<Track>?
        var images: LenientArray<Image>?

        var artist: String {
            (artists?.values ?? []).reduce("") { text, artist in
                let name = discogsName(artist.anv.flatMap { $0.isEmpty ? nil : $0 } ?? artist.name)
                let join = artist.join ?? ""
                return text + name + (join.isEmpty ? "" : join == "," ? ", " : " \(join) ")
            }
        }

        /// In milliseconds; empty if the songs are parts of others.
        var lengths: [Int] {
            let songs = (tracklist?.values ?? []).filter { $0.type_ != "heading" }
            return songs.contains { $0.type_ == "index" } ? [] : songs.map { discogsLength($0.duration ?? "") }
        }
    }

    /// `1:02:03` in milliseconds; 0 for another text.
    private static func discogsLength(_ text: String) -> Int {
        let parts = text.split(separator: ":").map { Int($0).flatMap { (0..<10_000).contains($0) ? $0 : nil } }
        guard parts.count < 4 else { return 0 }
        return parts.reduce(0) { $0 * 60 + ($1 ?? 0) } * 1_000
    }

    @Sendable private static func readDiscogsAlbum(_ response: SourceResponse) -> SourceReading {
        .details(response, of: .discogs, refusing: refusals) { (found: Album) in
            let names = (found.artists?.values ?? []).map { discogsName($0.name) }
            let images = found.images?.values ?? []
            let front = (images.first { $0.type == "primary" } ?? images.first)?.uri
            return (
                AlbumQuery(
                    artist: found.artist, otherArtists: names.count == 1 ? names : [], title: found.title,
                    year: found.year, trackCount: found.lengths.count, lengths: found.lengths),
                [front].compactMap(\.self).filter { !$0.isEmpty }
            )
        }
    }
}
