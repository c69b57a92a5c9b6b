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
                let pictures = archivePictures(base, release: query.releaseID, group: query.releaseGroupID)
                if pictures.isEmpty { return [] }
                let details = query.releaseID.map { musicBrainzRelease($0) }
                return [
                    SourceCandidate(
                        source: .caa, album: query, pictures: pictures,
                        previews: archivePreviews(base, release: query.releaseID, group: query.releaseGroupID),
                        details: details)
                ]
            })
    }

    /// The front covers of a release and of its group, at most two: half of all releases have none. The original, which may be many megabytes
    /// or a PDF, is the last resort where no group is known.
    static func archivePictures(_ base: String, release: String?, group: String?) -> [String] {
        let entities = archiveEntities(release: release, group: group)
        let large = entities.map { "\(base)/\($0)/front-1200" }
        return large.count == 1 ? large + ["\(base)/\(entities[0])/front"] : large
    }

    static func archivePreviews(_ base: String, release: String?, group: String?) -> [String] {
        archiveEntities(release: release, group: group).map { "\(base)/\($0)/front-250" }
    }

    private static func archiveEntities(release: String?, group: String?) -> [String] {
        [release.map { "release/\($0)" }, group.map { "release-group/\($0)" }].compactMap(\.self)
    }
}
