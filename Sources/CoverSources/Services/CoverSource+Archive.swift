/// The Cover Art Archive (musicbrainz.org/doc/Cover_Art_Archive/API): by the MusicBrainz ids of an album. It is not searched; that a cover
/// is missing shows when its picture is requested (404).
extension CoverSource {
    static func coverArtArchive(_ base: String) -> CoverSource {
        CoverSource(.caa, base: base, rate: nil, search: { _ in nil }, read: { _ in .notFound }) { query in
            let pictures = archivePictures(base, release: query.releaseID, group: query.releaseGroupID)
            if pictures.isEmpty { return [] }
            let match = Match(.certain, "by its MusicBrainz id", score: 200)
            return [SourceCandidate(source: .caa, album: query, pictures: pictures, match: match)]
        }
    }

    /// The front covers of a release and of its group: the large size of each, then the smaller one, then the original, which may be many
    /// megabytes or a PDF.
    static func archivePictures(_ base: String, release: String?, group: String?) -> [String] {
        let entities = [release.map { "release/\($0)" }, group.map { "release-group/\($0)" }].compactMap { $0 }
        return ["front-1200", "front-500", "front"].flatMap { size in entities.map { "\(base)/\($0)/\(size)" } }
    }
}
