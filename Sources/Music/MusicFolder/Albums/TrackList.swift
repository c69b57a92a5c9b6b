import CoverSources

/// Songs in the order of discs and tracks, each once: copies of a song in another format are left out.
struct TrackList {
    /// Songs whose lengths differ by more than this are different recordings, in milliseconds.
    private static let tolerance: UInt32 = 3_000

    private(set) var songs: [Song] = []

    init(_ songs: some Sequence<Song>) {
        var known: Set<UInt64> = []
        let order = songs.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        self.songs = order.lazy.map(\.element).filter { $0.track == 0 || known.insert($0.place).inserted }
    }

    /// The songs of all places of an album; if some have no number, those of the place with most.
    init(places: [[AlbumPart]]) {
        let lists = places.map { TrackList($0.lazy.flatMap(\.songs)) }
        self.init(lists.lazy.flatMap(\.songs))
        if songs.contains(where: { $0.track == 0 }) {
            songs = lists.max { $0.songs.count < $1.songs.count }?.songs ?? []
        }
    }

    /// In milliseconds, 0 for an unknown one; empty if none is known. Lengths that are all equal were made up.
    var lengths: [Int] { Self.areKnown(songs.lazy.map(\.length)) ? songs.map { Int($0.length) } : [] }

    /// Whether lengths are those of songs.
    static func areKnown(_ lengths: some Collection<UInt32>) -> Bool {
        guard let first = lengths.first(where: { $0 > 0 }) else { return false }
        return lengths.count == 1 || lengths.contains { $0 > 0 && $0 != first }
    }

    /// The numbers of tracks that the album may have: by its tags, else by four or more songs that are numbered from 1 without a gap.
    var counts: Set<Int> {
        let discs = Dictionary(grouping: songs, by: \.disc).values.map { disc in
            let highest = disc.reduce(disc.count) { max($0, Int($1.track)) }
            return (songs: disc, total: Self.total(disc).flatMap { $0 >= highest ? Int($0) : nil })
        }
        // A total may be that of all discs.
        var counts = Set(discs.compactMap(\.total).filter { $0 >= songs.count })
        if counts.contains(songs.count) { return counts }
        let areNumbered = songs.count > 3
        if areNumbered, discs.allSatisfy({ $0.total == nil }), Self.areNumbered(songs) { return [songs.count] }
        let numbers = discs.compactMap { disc in
            disc.total ?? (areNumbered && Self.areNumbered(disc.songs) ? disc.songs.count : nil)
        }
        if numbers.count == discs.count, !numbers.isEmpty { counts.insert(numbers.reduce(0, +)) }
        return counts
    }

    /// Whether there are discs of which no song is here, by the highest number of a disc.
    var lacksDiscs: Bool {
        let last = songs.reduce(1) { max($0, Int($1.disc), Int($1.discTotal)) }
        return Set(songs.lazy.map { max($0.disc, 1) }).count < last
    }

    /// The number of tracks in the tags of all songs.
    var total: UInt16? { Self.total(songs) }

    private static func total(_ songs: [Song]) -> UInt16? {
        let totals = Set(songs.lazy.map(\.trackTotal)).subtracting([0])
        return totals.count == 1 ? totals.first : nil
    }

    private static func areNumbered(_ disc: [Song]) -> Bool {
        Dictionary(grouping: disc, by: \.side).values.allSatisfy { side in
            side.enumerated().allSatisfy { Int($0.element.track) == $0.offset + 1 }
        }
    }

    // MARK: Two lists

    /// Whether the songs are the same ones, in the same order: by their lengths; by their titles where lengths are unknown.
    /// - Parameter needsLengths: Whether titles do not suffice.
    func isCopy(of other: TrackList, needsLengths: Bool) -> Bool {
        guard songs.count == other.songs.count, !songs.isEmpty else { return false }
        if let agree = SongLengths.agree(lengths, other.lengths, allowsMissing: false) { return agree }
        return !needsLengths
            && zip(songs, other.songs).allSatisfy { $0.place == $1.place && $0.title == $1.title && $0.title != 0 }
    }

    /// Whether two songs have one number and are different songs.
    static func clash(_ songs: some Sequence<Song>) -> Bool {
        var first: [UInt64: Song] = [:]
        return songs.contains { song in
            guard song.track > 0 else { return false }
            guard let other = first[song.place] else {
                first[song.place] = song
                return false
            }
            return areDifferent(song, other)
        }
    }

    /// Whether two lists have a number in common, or songs without one.
    func overlaps(_ other: TrackList) -> Bool {
        let places = Set(songs.lazy.map(\.place))
        return (songs + other.songs).contains { $0.track == 0 } || other.songs.contains { places.contains($0.place) }
    }

    private static func areDifferent(_ first: Song, _ second: Song) -> Bool {
        let titles = first.title != 0 && second.title != 0 ? first.title != second.title : nil
        let apart = max(first.length, second.length) - min(first.length, second.length)
        let lengths = first.length > 0 && second.length > 0 ? apart > tolerance : nil
        return (titles != nil || lengths != nil) && titles ?? true && lengths ?? true
    }
}

extension Song {
    /// Disc, side and track. A song without a number comes last.
    var place: UInt64 { UInt64(disc) << 32 | UInt64(side) << 16 | UInt64(track == 0 ? UInt16.max : track) }
}
