/// How the tracks of two albums relate: their numbers, and their lengths, which nobody edits.
struct TrackEvidence: Sendable {
    let line: Evidence.Line
    /// Nil if the lengths of one are unknown.
    let lengthsAgree: Bool?
    /// The songs whose lengths were compared, if they agree.
    let comparedLengths: Int

    /// Lengths of one song on several records, in milliseconds.
    private static let (tolerance, largeTolerance) = (3_000, 10_000)

    /// - Parameter isPart: Whether ours is one disc of an album.
    init(_ query: AlbumQuery, _ candidate: AlbumQuery, isPart: Bool) {
        let (ours, theirs) = (query.trackCounts, candidate.trackCounts)
        let areEqual = ours.isEmpty || theirs.isEmpty ? nil : !ours.isDisjoint(with: theirs)
        let isNear = ours.contains { one in theirs.contains { abs($0 - one) == 1 && min($0, one) >= 8 } }
        let count = candidate.trackCount.map { "\($0) track\($0 == 1 ? "" : "s")" } ?? "tracks"
        let numbers = query.trackCount.map { areEqual == false ? "\(count) where yours has \($0)" : count } ?? count
        guard let songs = Self.known(query.lengths), let others = Self.known(candidate.lengths) else {
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
        let (close, loose) = (
            Self.matches(songs, others, Self.tolerance), Self.matches(songs, others, Self.largeTolerance)
        )
        let (fewer, more) = (min(songs.count, others.count), max(songs.count, others.count))
        let needed = fewer < 5 ? fewer : (fewer * 9 + 9) / 10
        // A few songs are found by chance in a long list.
        let isLikely =
            more == fewer || songs.count < others.count && (areEqual == true || fewer >= 4 && fewer * 2 >= more)
        lengthsAgree = isLikely && (more == fewer ? close >= needed : close == fewer)
        comparedLengths = lengthsAgree == true ? fewer : 0
        let isLast = fewer >= 8 && more - fewer == 1 && close >= needed
        if lengthsAgree == true {
            line = .init(.agrees, "lengths agree")
        } else if more == fewer && loose * 2 >= fewer {
            line = .init(.silent, "half of the lengths agree")
        } else if isLast {
            line = .init(.silent, "\(numbers), one more at the end")
        } else if areEqual != false, !isLikely, close == fewer || areEqual == nil && fewer < 4 {
            line = .init(.silent, "number of tracks unknown")
        } else {
            line = .init(.contradicts, areEqual == false ? numbers : "lengths differ")
        }
    }

    /// Nil for lengths that say nothing: none, or all equal, as of silence.
    private static func known(_ lengths: [Int]) -> [Int]? {
        let known = lengths.filter { $0 > 0 }
        guard known.count * 2 > lengths.count, known.count == 1 || Set(known).count > 1 else { return nil }
        return known
    }

    /// Whether two albums have the same songs; nil if that is unknown.
    static func lengthsAgree(_ first: AlbumQuery, _ second: AlbumQuery) -> Bool? {
        TrackEvidence(first, second, isPart: false).lengthsAgree
    }

    /// How many songs of the one are in the other, in order (the longest common subsequence).
    private static func matches(_ first: [Int], _ second: [Int], _ tolerance: Int) -> Int {
        let (first, second) = (first.prefix(500), Array(second.prefix(500)))
        var row = Array(repeating: 0, count: second.count + 1)
        for length in first {
            var diagonal = 0
            for (column, other) in second.enumerated() {
                let above = row[column + 1]
                row[column + 1] = abs(length - other) <= tolerance ? diagonal + 1 : max(above, row[column])
                diagonal = above
            }
        }
        return row[second.count]
    }
}
