/// How the tracks of two albums relate: their numbers, and their lengths, which taggers do not change.
struct TrackEvidence: Sendable {
    let line: Match.Line
    /// Nil if those of one album are unknown.
    let lengths: LengthEvidence?

    /// Nil if the lengths of one are unknown.
    var lengthsAgree: Bool? { lengths?.agree }
    /// The songs whose lengths were compared, if they agree.
    var comparedLengths: Int { lengthsAgree == true ? lengths?.fewer ?? 0 : 0 }
    /// What the lengths tell, of all songs or of those that precede our bonus songs.
    var telling: SongLengths.Telling { lengths?.telling ?? .nothing }

    /// Whether the lengths are those of other songs.
    /// - Parameter ofOneNumber: Of as many.
    func isOther(ofOneNumber: Bool = false) -> Bool {
        lengthsAgree == false && line.contradicts && !(ofOneNumber && lengths?.fewer != lengths?.more)
    }

    /// - Parameter isPart: Whether ours is one disc of an album.
    init(_ query: AlbumQuery, _ candidate: AlbumQuery, isPart: Bool) {
        let (ours, theirs) = (query.trackCounts, candidate.trackCounts)
        let areEqual = Self.areEqual(ours, theirs)
        let isNear = ours.contains { one in theirs.contains { abs($0 - one) == 1 && min($0, one) >= 8 } }
        let count = candidate.trackCount.map { "\($0) track\($0 == 1 ? "" : "s")" } ?? "tracks"
        let numbers = query.trackCount.map { areEqual == false ? "\(count) where yours has \($0)" : count } ?? count
        lengths = Self.lengths(query, candidate)
        guard let lengths else {
            switch areEqual {
            case true?: line = .init(.agrees, "\(count) in both")
            case nil: line = .init(.silent, "number of tracks unknown")
            case false?:
                let isInside = isPart && (theirs.max() ?? 0) > (ours.max() ?? 0)
                line = .init(isNear || isInside ? .silent : .contradicts, numbers)
            }
            return
        }
        if lengths.agree {
            line = .init(.agrees, lengths.text)
        } else if lengths.isHalf {
            line = .init(.silent, "half of the lengths agree")
        } else if lengths.isLast {
            line = .init(.silent, "\(numbers), one more at the end")
        } else if areEqual != false, lengths.isOpen || areEqual == nil && lengths.fewer < 4 && !lengths.isLikely {
            line = .init(.silent, "number of tracks unknown")
        } else {
            line = .init(.contradicts, areEqual == false ? numbers : "lengths differ")
        }
    }

    /// Whether two albums have the same songs; nil if that is unknown.
    static func lengthsAgree(_ first: AlbumQuery, _ second: AlbumQuery) -> Bool? { lengths(first, second)?.agree }

    private static func lengths(_ query: AlbumQuery, _ candidate: AlbumQuery) -> LengthEvidence? {
        let set = query.setLengths.flatMap { LengthEvidence($0, candidate.lengths, areEqual: true) }
        if let set, set.telling > .nothing, !set.haveBonus { return set }
        let areEqual = areEqual(query.trackCounts, candidate.trackCounts)
        return LengthEvidence(query.lengths, candidate.lengths, areEqual: areEqual)
    }

    /// Whether the numbers of tracks are equal; nil if those of one are unknown.
    private static func areEqual(_ ours: Set<Int>, _ theirs: Set<Int>) -> Bool? {
        ours.isEmpty || theirs.isEmpty ? nil : !ours.isDisjoint(with: theirs)
    }
}

/// How the known lengths of two albums' songs relate.
struct LengthEvidence: Sendable {
    let (fewer, more): (Int, Int)
    /// The songs of one length, in order.
    private let close: Int
    let agree: Bool
    let telling: SongLengths.Telling
    /// Whether every one of as many songs has its length, and they tell.
    let allTell: Bool
    /// Whether ours agree as some of theirs.
    let areSome: Bool
    /// Whether ours begin with all of theirs.
    let haveBonus: Bool
    /// Whether half of the songs have nearly their lengths, each at its place.
    let isHalf: Bool
    /// A few songs are found by chance in a long list.
    let isLikely: Bool

    /// Lengths of one song in two masterings, in milliseconds. They are compared place by place: of two unrelated lists, one in ten has half of
    /// its songs in the same order, one in three hundred at the same places.
    private static let largeTolerance = 10_000

    /// - Parameter areEqual: Whether the numbers of tracks are equal, if they are known.
    init?(_ ours: [Int], _ theirs: [Int], areEqual: Bool?) {
        guard let songs = SongLengths.known(ours), let others = SongLengths.known(theirs) else { return nil }
        (fewer, more) = (min(songs.count, others.count), max(songs.count, others.count))
        close = SongLengths.common(songs, others)
        // Songs of unknown length are at no place.
        let areAll = songs.count == ours.count && others.count == theirs.count
        let hasMore = others.count < songs.count && songs.count * 2 <= others.count * 3
        telling =
            areAll && (hasMore || more == fewer && areEqual != false)
            ? SongLengths.telling(Array(songs.prefix(others.count)), others) : .nothing
        haveBonus = hasMore && telling > .nothing
        allTell = telling > .nothing && SongLengths.allTell(songs, others)
        isLikely =
            more == fewer || songs.count < others.count && (areEqual == true || fewer >= 4 && fewer * 2 >= more)
        agree = haveBonus || isLikely && close >= (more == fewer ? SongLengths.needed(fewer) : fewer)
        areSome = agree && songs.count < others.count && areEqual != true
        isHalf = more == fewer && zip(songs, others).count { abs($0 - $1) <= Self.largeTolerance } * 2 >= fewer
    }

    /// Whether they agree of all songs of both.
    var areOfAll: Bool { agree && more == fewer }
    /// Whether one of many songs is missing at the end, or another one.
    var isLast: Bool { fewer >= 8 && more - fewer == 1 && close >= SongLengths.needed(fewer) }
    /// Whether all songs are in the other list, which is too long to say more.
    var isOpen: Bool { !isLikely && close == fewer }
    var text: String { "\(close) of \(fewer) lengths agree" + (haveBonus ? ", \(more - fewer) more behind them" : "") }
}
