/// How long the songs of an album are, in milliseconds and in order. Taggers do not change them.
package enum SongLengths {
    /// Lengths of one song on several records.
    static let tolerance = 3_000
    /// More songs are not compared: it takes quadratic time.
    private static let maximumCount = 500

    /// Whether nine of ten songs, or all of less than five, have the same lengths in the same order; nil if lengths are unknown.
    /// - Parameter allowsMissing: One of the two may lack songs of the other.
    package static func agree(_ first: [Int], _ second: [Int], allowsMissing: Bool) -> Bool? {
        guard let first = known(first), let second = known(second) else { return nil }
        let count = allowsMissing ? min(first.count, second.count) : max(first.count, second.count)
        return common(first, second) >= needed(count)
    }

    /// How many of a number of songs must be the same.
    static func needed(_ count: Int, allBelow few: Int = 5) -> Int { count < few ? count : (count * 9 + 9) / 10 }

    /// The number of songs of known length.
    package static func count(_ lengths: [Int]) -> Int { known(lengths)?.count ?? 0 }

    /// The lengths that are known; nil if they say nothing: those of less than half of the songs, or all equal, as of silence. Of four songs or
    /// more, lengths within the tolerance are equal.
    static func known(_ lengths: [Int]) -> [Int]? {
        let known = lengths.prefix(maximumCount).filter { $0 > 0 }
        guard let least = known.min(), let most = known.max(), known.count * 2 >= min(lengths.count, maximumCount)
        else {
            return nil
        }
        return known.count == 1 || most - least > (known.count < 4 ? 0 : tolerance) ? known : nil
    }

    /// How many songs are in both, in the same order (the longest common subsequence).
    static func common(
        _ first: [Int], _ second: [Int], areClose: (Int, Int) -> Bool = { abs($0 - $1) <= tolerance }
    ) -> Int {
        var row = [Int](repeating: 0, count: second.count + 1)
        for length in first {
            var diagonal = 0
            for (index, other) in second.enumerated() {
                let best = areClose(length, other) ? diagonal + 1 : max(row[index], row[index + 1])
                (diagonal, row[index + 1]) = (row[index + 1], best)
            }
        }
        return row[second.count]
    }

    // MARK: Lengths that tell

    /// How far lists of as many songs agree that two albums hardly share.
    enum Telling: Comparable {
        case nothing
        /// Nine of ten songs, or all of less than ten: a new recording of the same songs comes close to that.
        case songs
        /// Half of them within a second, too.
        case recording
    }

    /// What the lengths of as many songs tell: six or more, of which four are of other lengths than each other, within three seconds and a
    /// fiftieth of the song.
    static func telling(_ first: [Int], _ second: [Int]) -> Telling {
        guard first.count == second.count, first.count >= 6, differing(first) >= 4,
            common(first, second, areClose: areVeryClose) >= needed(first.count, allBelow: 10)
        else { return .nothing }
        return zip(first, second).count { abs($0 - $1) <= 1_000 } * 2 >= first.count ? .recording : .songs
    }

    /// Whether every one of as many songs has its length, and they tell.
    static func allTell(_ first: [Int], _ second: [Int]) -> Bool {
        telling(first, second) > .nothing && zip(first, second).allSatisfy(areVeryClose)
    }

    private static func areVeryClose(_ first: Int, _ second: Int) -> Bool {
        abs(first - second) <= min(tolerance, max(1_000, max(first, second) / 50))
    }

    /// How many lengths are six seconds from each other.
    private static func differing(_ lengths: [Int]) -> Int {
        var (count, last) = (0, -6_000)
        for length in lengths.sorted() where length - last >= 6_000 { (count, last) = (count + 1, length) }
        return count
    }
}
