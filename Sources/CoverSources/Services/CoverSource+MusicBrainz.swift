import Platform

/// The search of MusicBrainz (musicbrainz.org/doc/MusicBrainz_API/Search): releases by artist and title. It has ids, which the Cover Art
/// Archive has covers for. One request a second for each address, all clients of which get 503 above that.
extension CoverSource {
    static func musicBrainz(_ base: String, archive: String) -> CoverSource {
        CoverSource(
            .musicbrainz, base: base, rate: RateRule(1, in: .seconds(1), pause: .seconds(2)), needsContact: true,
            search: { query in
                musicBrainzQuery(query).map {
                    url("\(base)/ws/2/release", [("query", $0), ("fmt", "json"), ("limit", limit)])
                }
            },
            read: { readMusicBrainz($0, archive: archive) })
    }

    /// The query in Lucene's syntax; nil without a title. A release id without that of its group is looked up, as the group may have a cover
    /// that the release has not.
    static func musicBrainzQuery(_ query: AlbumQuery) -> String? {
        if let id = query.releaseID, query.releaseGroupID == nil { return "reid:\(id)" }
        let (artist, title) = (FoldedText(artist: query.artist), FoldedText(query.title).searchText)
        if title.isEmpty { return nil }
        let release = "release:\(lucenePhrase(title))"
        if artist.isVarious { return "\(release) AND arid:89ad4ac3-39f7-470e-963a-56509c546377" }
        return artist.key.isEmpty ? release : "\(release) AND artist:\(lucenePhrase(artist.searchText))"
    }

    /// In a phrase, only the quotation mark and the backslash have a meaning.
    private static func lucenePhrase(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private struct Answer: Decodable {
        var releases: LenientArray<Release>
    }

    private struct Release: Decodable {
        struct Credit: Decodable {
            var name: String
            var joinphrase: String?
        }
        struct Group: Decodable {
            var id: String
            var kind: String?

            enum CodingKeys: String, CodingKey {
                case id
                case kind = "primary-type"
            }
        }

        var id, title: String
        var date: String?
        var trackCount: Int?
        var credit: LenientArray<Credit>?
        var group: Group?

        enum CodingKeys: String, CodingKey {
            case id, title, date
            case trackCount = "track-count"
            case credit = "artist-credit"
            case group = "release-group"
        }
    }

    private static func readMusicBrainz(_ response: SourceResponse, archive: String) -> SourceReading {
        if let reading = SourceReading(response) { return reading }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
            return .failed("the answer is not that of a search")
        }
        return SourceReading(
            answer.releases.values.map { release in
                let album = AlbumQuery(
                    artist: (release.credit?.values ?? []).map { $0.name + ($0.joinphrase ?? "") }.joined(),
                    title: AlbumQuery.title(release.title, kind: release.group?.kind),
                    year: AlbumQuery.year(of: release.date), trackCount: release.trackCount,
                    releaseID: release.id, releaseGroupID: release.group?.id)
                let pictures = archivePictures(archive, release: album.releaseID, group: album.releaseGroupID)
                return SourceCandidate(source: .musicbrainz, album: album, pictures: pictures)
            })
    }
}
