/// How the tracks of two albums relate: their numbers, and their lengths, which taggers do not change.
struct TrackEvidence: Sendable {
    let line: Match.Line
    /// Nil if the lengths of one are unknown.
    let lengthsAgree: Bool?
    /// The songs whose lengths were compared, if they agree.
    let comparedLengths: Int

    /// Lengths of one song in two masterings, in milliseconds. They are compared place by place: of two unrelated lists, one in ten has half of
    /// its songs in the same order, one in three hundred at the same places.
    private static let largeTolerance = 10_000

    /// - Parameter isPart: Whether ours is one disc of an album.
    init(_ query: AlbumQuery, _ candidate: AlbumQuery, isPart: Bool) {
        let (ours, theirs) = (query.trackCounts, candidate.trackCounts)
        let areEqual = ours.isEmpty || theirs.isEmpty ? nil : !ours.isDisjoint(with: theirs)
        let isNear = ours.contains { one in theirs.contains { abs($0 - one) == 1 && min($0, one) >= 8 } }
        let count = candidate.trackCount.map { "\($0) track\($0 == 1 ? "" : "s")" } ?? "tracks"
        let numbers = query.trackCount.map { areEqual == false ? "\(count) where yours has \($0)" : count } ?? count
        guard let songs = SongLengths.known(query.lengths), let others = SongLengths.known(candidate.lengths) else {
            (lengthsAgree, comparedLengths) = (nil, 0)
            switch areEqual {
            case true?: line = .init(.agrees, "\(count) in both")
            case nil: line = .init(.silent, "number of tracks unknown")
            case false?:
                let isInside = isPart && (theirs.max() ?? 0) > (ours.max() ?? 0)
                line = .init(isNear || isInside ? .silent : .contradicts, numbers)
            }
            return
        }
        let close = SongLengths.common(songs, others)
        let (fewer, more) = (min(songs.count, others.count), max(songs.count, others.count))
        let needed = SongLengths.needed(fewer)
        // A few songs are found by chance in a long list.
        let isLikely =
            more == fewer || songs.count < others.count && (areEqual == true || fewer >= 4 && fewer * 2 >= more)
        lengthsAgree = isLikely && (more == fewer ? close >= needed : close == fewer)
        comparedLengths = lengthsAgree == true ? fewer : 0
        let isLast = fewer >= 8 && more - fewer == 1 && close >= needed
        if lengthsAgree == true {
            line = .init(.agrees, "lengths agree")
        } else if more == fewer,
            zip(songs, others).count(where: { abs($0 - $1) <= Self.largeTolerance }) * 2 >= fewer
        {
            line = .init(.silent, "half of the lengths agree")
        } else if isLast {
            line = .init(.silent, "\(numbers), one more at the end")
        } else if areEqual != false, !isLikely, close == fewer || areEqual == nil && fewer < 4 {
            line = .init(.silent, "number of tracks unknown")
        } else {
            line = .init(.contradicts, areEqual == false ? numbers : "lengths differ")
        }
    }

    /// Whether two albums have the same songs; nil if that is unknown.
    static func lengthsAgree(_ first: AlbumQuery, _ second: AlbumQuery) -> Bool? {
        TrackEvidence(first, second, isPart: false).lengthsAgree
    }
}
