import CoverSizes
import CoverSources
import Platform

/// What others show for an album whose cover is certain by its names: services err, too.
struct SecondOpinion: Sendable {
    /// More sources are not asked, the first one and its kin included.
    static let maximumSources = 4

    /// What is done with the cover.
    enum Advice: Sendable {
        /// Write it. - Parameter note: What is known of it now, to be remembered; nil for nothing.
        case keep(note: Match.Line?)
        /// Another source has a larger rendition of the picture.
        case larger(SourceCandidate)
        /// Two others show one picture, which is not this one.
        case replace(SourceCandidate, reason: String)
    }

    /// The picture in the tags of all songs; nil if there is none.
    var tags: Likeness?
    /// What other sources show.
    var others: [CoverComparison.Shown] = []
    private let likeness: Likeness

    init(_ likeness: Likeness) { self.likeness = likeness }

    private func agrees(_ other: Likeness) -> Bool { likeness.verdict(with: other) != .different }

    /// Whether another source is worth asking: none has been, or all of them show another picture, each its own.
    func isOpen(for cover: SourceCandidate) -> Bool {
        if let tags, agrees(tags) { return false }
        return others.allSatisfy { !agrees($0.likeness) } && better(than: cover) == nil
    }

    /// A cover, no less certain by its names, whose picture the tags have, or a source that does not err alike.
    private func better(than cover: SourceCandidate) -> SourceCandidate? {
        others.lazy.compactMap { one in
            let same = others.filter { $0.likeness.verdict(with: one.likeness) == .same }.map(\.cover)
            let isShown = tags.map { $0.verdict(with: one.likeness) == .same } ?? false
            let certain = same.filter { $0.match.isByName && $0.match.score >= cover.match.score }
            return isShown || SourceCandidate.areIndependent(same) ? SourceCandidate.largest(certain) : nil
        }.first
    }

    /// - Parameter pictures: To which the renditions are added.
    func advice(on cover: SourceCandidate, _ query: AlbumQuery, _ pictures: inout RepeatedPictures) -> Advice {
        var opinion = self
        opinion.others.removeAll { pictures.add($0.digest, $0.likeness, of: query) }
        return opinion.advice(on: cover)
    }

    private func advice(on cover: SourceCandidate) -> Advice {
        let names = Set(others.map(\.cover.source.title)).sorted().joined(separator: " and ")
        if let better = better(than: cover) {
            let reason =
                "\(tags.map { $0.verdict(with: likeness) == .different } == true ? "the tags and " : "")\(names) show another picture"
            return .replace(better, reason: reason)
        }
        let same = others.filter { $0.likeness.verdict(with: likeness) == .same }.map(\.cover)
        if let largest = SourceCandidate.largest([cover] + same), largest.source != cover.source {
            return .larger(largest.judged(cover.match))
        }
        let agreeing = Set(same.map(\.source.title)).sorted().joined(separator: " and ")
        if !same.isEmpty {
            return .keep(note: .init(.agrees, "\(agreeing) \(same.count == 1 ? "shows" : "show") the same picture"))
        }
        if others.isEmpty || others.contains(where: { agrees($0.likeness) }) { return .keep(note: nil) }
        return .keep(note: .init(.contradicts, "\(names) \(others.count == 1 ? "shows" : "show") another picture"))
    }
}
