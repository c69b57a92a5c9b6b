/// Whether two albums have the same songs, by how long these are: what nobody edits.
enum SongLengths {
    /// In milliseconds.
    private static let tolerance = 3_000
    /// More songs are not compared: it takes quadratic time.
    private static let maximumCount = 1_000

    /// Whether nine of ten songs, or all of less than five, have the same lengths in the same order; nil if lengths are unknown.
    /// - Parameter allowsMissing: One of the two may lack songs of the other.
    static func agree(_ first: [Int], _ second: [Int], allowsMissing: Bool) -> Bool? {
        guard let first = known(first), let second = known(second) else { return nil }
        let needed = allowsMissing ? min(first.count, second.count) : max(first.count, second.count)
        let common = common(first, second)
        return needed < 5 ? common == needed : common * 10 >= needed * 9
    }

    /// The number of songs of known length.
    static func count(_ lengths: [Int]) -> Int { known(lengths)?.count ?? 0 }

    /// Lengths that are all equal are no lengths of songs.
    private static func known(_ lengths: [Int]) -> [Int]? {
        let known = lengths.prefix(maximumCount).filter { $0 > 0 }
        return known.count > 1 && Set(known).count == 1 ? nil : known.isEmpty ? nil : known
    }

    /// The number of songs that are in both, in the same order.
    private static func common(_ first: [Int], _ second: [Int]) -> Int {
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
