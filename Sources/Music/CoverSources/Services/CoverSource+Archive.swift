extension SourceName { package static let caa = SourceName(rawValue: "caa") }

/// The Cover Art Archive (musicbrainz.org/doc/Cover_Art_Archive/API): by the MusicBrainz ids of an album. It is not searched; that a cover
/// is missing shows when its picture is requested (404).
extension CoverSource {
    /// - Parameter musicBrainz: MusicBrainz's address, where the albums of its ids are described.
    static func coverArtArchive(_ base: String, musicBrainz: String) -> CoverSource {
        CoverSource(
            .caa, base: base, rate: nil, readDetails: readRelease,
            location: Location(
                informant: .musicbrainz, base: musicBrainz, lack: "the album has no MusicBrainz id",
                found: "by its MusicBrainz id", doubt: "MusicBrainz was not asked what the album's id is of"
            ) { query in
                [archived(query, at: base, by: .caa)].filter { !$0.pictures.isEmpty }
            })
    }

    /// The front covers of a release and of its group, at most two: half of all releases have none. The original, which may be many megabytes
    /// or a PDF, is the last resort where no group is known.
    static func archived(_ album: AlbumQuery, at base: String, by source: SourceName) -> SourceCandidate {
        let group = album.releaseGroupID.map { "\(base)/release-group/\($0)/front" }
        let fronts = [album.releaseID.map { "\(base)/release/\($0)/front" }, group].compactMap(\.self)
        return SourceCandidate(
            source: source, album: album, pictures: fronts.map { "\($0)-1200" } + (fronts.count == 1 ? fronts : []),
            previews: fronts.map { "\($0)-250" }, details: album.releaseID.map { musicBrainzRelease($0) })
    }
}
