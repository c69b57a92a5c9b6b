import Platform

extension SourceName { package static let musicbrainz = SourceName(rawValue: "musicbrainz") }

/// The search of MusicBrainz (musicbrainz.org/doc/MusicBrainz_API/Search): releases by artist and title. It has ids, which the Cover Art
/// Archive has covers for. One request a second for each address, all clients of which get 503 above that.
extension CoverSource {
    static func musicBrainz(_ base: String, archive: String) -> CoverSource {
        CoverSource(
            .musicbrainz, base: base, rate: RateRule(1, in: .seconds(1), pause: .seconds(2)), needsContact: true,
            searches: { query in
                musicBrainzQueries(query).map {
                    url("/ws/2/release", [("query", $0), ("fmt", "json"), ("limit", limit)])
                }
            }, read: { readMusicBrainz($0, archive: archive) }, readDetails: readRelease)
    }

    @Sendable static func readRelease(_ response: SourceResponse) -> SourceReading {
        .details(response, of: .musicbrainz) { (release: Release) in (release.album, []) }
    }

    /// The queries in Lucene's syntax; none without a title. A release id without that of its group is looked up, as the group may have a
    /// cover that the release has not. What is not found is looked for among all albums of the artist that have as many tracks: a misspelt title
    /// shows by the lengths.
    static func musicBrainzQueries(_ query: AlbumQuery) -> [String] {
        let isVarious = FoldedText(artist: query.artist).isVarious
        let ids = query.releaseGroupID == nil ? query.releaseID.map { ["reid:\($0)"] } ?? [] : []
        let names = names(of: query)
        let (artist, count) = (names.first?.artist ?? "", query.lengths.count)
        let mayTell = !artist.isEmpty && SongLengths.telling(query.lengths, query.lengths) > .nothing
        return ids
            + names.map { artist, title in
                let release = "release:\(lucenePhrase(title))"
                if isVarious { return "\(release) AND arid:89ad4ac3-39f7-470e-963a-56509c546377" }
                return artist.isEmpty ? release : "\(release) AND artist:\(lucenePhrase(artist))"
            } + (mayTell ? ["artist:\(lucenePhrase(artist)) AND tracks:\(count)"] : [])
    }

    /// Where a release is described with its songs and its group's first date.
    static func musicBrainzRelease(_ id: String) -> String {
        "/ws/2/release/\(id)?inc=recordings+release-groups+artist-credits+aliases&fmt=json"
    }

    /// In a phrase, only the quotation mark and the backslash have a meaning.
    private static func lucenePhrase(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private struct Answer: Decodable {
        var releases: LenientArray<Release>
    }

    private struct Release: Decodable {
        struct Name: Decodable { var name: String }
        struct Artist: Decodable { var aliases: LenientArray<Name>? }
        struct Credit: Decodable {
            var name: String
            var joinphrase: String?
            var artist: Artist?
        }
        struct Group: Decodable {
            var id: String
            var kind, firstDate: String?

            enum CodingKeys: String, CodingKey {
                case id
                case kind = "primary-type"
                case firstDate = "first-release-date"
            }
        }
        struct Track: Decodable { var length: Int? }
        struct Medium: Decodable {
            var trackCount: Int?
            var tracks: LenientArray<Track>?

            enum CodingKeys: String, CodingKey {
                case tracks
                case trackCount = "track-count"
            }
        }

        var id, title: String
        var date: String?
        var trackCount: Int?
        var credit: LenientArray<Credit>?
        var group: Group?
        var media: LenientArray<Medium>?

        enum CodingKeys: String, CodingKey {
            case id, title, date, media
            case trackCount = "track-count"
            case credit = "artist-credit"
            case group = "release-group"
        }

        var album: AlbumQuery {
            let media = media?.values ?? []
            let counts = media.compactMap(\.trackCount)
            let songs = media.flatMap { $0.tracks?.values ?? [] }
            let total = counts.count == media.count && counts.count < 1_000 ? counts.map { min(max(0, $0), 9_999) } : []
            return AlbumQuery(
                artist: (credit?.values ?? []).map { $0.name + ($0.joinphrase ?? "") }.joined(),
                otherArtists: (credit?.values ?? []).count == 1
                    ? (credit?.values.first?.artist?.aliases?.values ?? []).map(\.name) : [],
                title: AlbumQuery.title(title, kind: group?.kind), year: AlbumQuery.year(of: date),
                originalYear: AlbumQuery.year(of: group?.firstDate), trackCount: trackCount,
                trackCounts: Set(counts + [total.reduce(0, +)]), lengths: songs.map { $0.length ?? 0 }, releaseID: id,
                releaseGroupID: group?.id)
        }
    }

    private static func readMusicBrainz(_ response: SourceResponse, archive: String) -> SourceReading {
        .search(response) { (answer: Answer) in
            SourceReading(answer.releases.values.map { archived($0.album, at: archive, by: .musicbrainz) })
        }
    }
}
