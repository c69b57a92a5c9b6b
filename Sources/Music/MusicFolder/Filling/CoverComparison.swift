import CoverSizes
import CoverSources
import Platform

/// What the doubtful covers of an album show, beside each other and beside the picture in the tags of its songs.
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
    /// The picture that all songs have in their tags; nil if there is none that can be read.
    var tags: Likeness?

    /// The covers about which something is proved, or can be said: what is certain by now, then what several sources show, then the others.
    /// - Parameters:
    ///   - pictures: To which the renditions are added.
    ///   - all: Everything that was found for the album.
    func judged(
        _ query: AlbumQuery, among all: [SourceCandidate], _ pictures: inout RepeatedPictures
    ) -> [SourceCandidate] {
        var (repeated, open) = ([SourceCandidate](), [Shown]())
        for one in shown {
            if pictures.add(one.digest, one.likeness, of: query) {
                repeated.append(one.cover.judged(.repeated))
            } else {
                var one = one
                if tags?.verdict(with: one.likeness) == .different {
                    one.cover = one.cover.noted(.init(.contradicts, "not the picture in the tags"))
                }
                open.append(one)
            }
        }
        func same(as likeness: Likeness) -> [SourceCandidate] {
            open.filter { $0.likeness.verdict(with: likeness) == .same }.map(\.cover)
        }
        func different(from likeness: Likeness) -> [SourceCandidate] {
            open.filter { $0.likeness.verdict(with: likeness) == .different }.map(\.cover)
        }
        if let tags,
            let proved = SourceCandidate.proved(
                byTags: same(as: tags), beside: different(from: tags), for: query, among: all)
        {
            return [proved] + open.map(\.cover).filter { $0.identity != proved.identity } + repeated
        }
        var (pooled, others) = ([SourceCandidate](), [SourceCandidate]())
        for one in open {
            if let cover = SourceCandidate.pooled(
                same(as: one.likeness), beside: different(from: one.likeness), for: query, among: all)
            {
                if !pooled.contains(cover) { pooled.append(cover) }
            } else {
                others.append(one.cover)
            }
        }
        others.removeAll { cover in pooled.contains { $0.identity == cover.identity } }
        return (pooled + others).ordered() + repeated
    }
}
