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
    static func needed(_ count: Int) -> Int { count < 5 ? count : (count * 9 + 9) / 10 }

    /// The number of songs of known length.
    package static func count(_ lengths: [Int]) -> Int { known(lengths)?.count ?? 0 }

    /// The lengths that are known; nil if they say nothing: those of less than half of the songs, or all equal, as of silence.
    static func known(_ lengths: [Int]) -> [Int]? {
        let known = lengths.prefix(maximumCount).filter { $0 > 0 }
        guard !known.isEmpty, known.count * 2 >= min(lengths.count, maximumCount) else { return nil }
        return known.count == 1 || Set(known).count > 1 ? known : nil
    }

    /// How many songs are in both, in the same order (the longest common subsequence).
    static func common(_ first: [Int], _ second: [Int]) -> Int {
        var row = [Int](repeating: 0, count: second.count + 1)
        for length in first {
            var diagonal = 0
            for (index, other) in second.enumerated() {
                let best = abs(length - other) <= tolerance ? diagonal + 1 : max(row[index], row[index + 1])
                (diagonal, row[index + 1]) = (row[index + 1], best)
            }
        }
        return row[second.count]
    }
}
