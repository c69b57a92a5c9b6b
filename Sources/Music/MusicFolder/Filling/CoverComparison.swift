import CoverSizes
import CoverSources
import Platform

/// What the doubtful covers of an album show, beside the picture in the tags of its songs.
struct CoverComparison: Sendable {
    /// A cover with a small rendition of its picture.
    struct Shown: Sendable {
        var cover: SourceCandidate
        var digest: Digest
        var likeness: Likeness
    }

    /// More covers are not compared.
    static let maximumCount = 8

    var shown: [Shown]
    /// The picture that all songs have in their tags.
    var tags: Likeness

    /// The covers about which the pictures tell something: the first one that shows what the tags have, and those with a picture of unrelated albums.
    /// - Parameters:
    ///   - all: Everything that was found for the album.
    ///   - pictures: To which the renditions are added.
    func judged(
        _ query: AlbumQuery, among all: [SourceCandidate], _ pictures: inout RepeatedPictures
    ) -> [SourceCandidate] {
        var (proved, repeated): (SourceCandidate?, [SourceCandidate]) = (nil, [])
        for one in shown {
            if pictures.add(one.digest, one.likeness, of: query) {
                repeated.append(one.cover.judged(.repeated))
            } else if proved == nil, tags.verdict(with: one.likeness) == .same {
                proved = one.cover.provedByTags(for: query, among: all)
            }
        }
        return [proved].compactMap(\.self) + repeated
    }
}
