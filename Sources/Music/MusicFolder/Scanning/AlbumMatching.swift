import AlbumLibrary
import CoverSources

/// Which album of the library each scanned album is: a value.
///
/// The one whose facts and folder are those of the last scan; else the one with its MusicBrainz release, unless artist or title contradict; else
/// the one with its artist, title and year, unless its songs are others; else the one whose songs were in the same folder under other names; else
/// the one that is gone from its folder and has the same lengths, to the millisecond. A folder alone says nothing: it may be used again. Two scanned albums are never one album.
///
/// An album that a person has deleted hides what has its artist, title, year and songs.
struct AlbumMatching {
    /// The id of each scanned album; nil for a new one.
    private(set) var ids: [Album.ID?]

    /// An album of the library, or one that a person has deleted.
    private struct Known {
        var id: Album.ID
        var record: AlbumRecord?
        var isDeleted: Bool
        /// As the tags name it, and as a person may have renamed it.
        var names: [AlbumQuery]
    }

    private let scanned: [ScannedAlbum]
    private var known: [Known]

    /// - Parameter isGone: Whether an album that was not found in a folder is not there.
    init(
        _ scanned: [ScannedAlbum], library: [Album], records: [AlbumRecord],
        isGone: (BytePath) -> Bool = { _ in false }
    ) {
        var records = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
        self.scanned = scanned
        ids = Array(repeating: nil, count: scanned.count)
        known = library.map { album in
            let record = records.removeValue(forKey: album.id)
            let names = [record?.facts, AlbumQuery(album)].compactMap(\.self)
            return Known(id: album.id, record: record, isDeleted: false, names: names)
        }
        known += records.values.sorted { $0.id < $1.id }.map {
            Known(id: $0.id, record: $0, isDeleted: true, names: [$0.facts])
        }
        takeUnchanged()
        // Most scans end here.
        if known.isEmpty || ids.allSatisfy({ $0 != nil }) { return }
        let missing = ids.indices.filter { ids[$0] == nil }
        let names = Dictionary(uniqueKeysWithValues: missing.map { ($0, Self.name(scanned[$0].facts)) })
        let counts = names.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        take(missing, by: { Set($0.names.compactMap(\.releaseID)) }, { $0.scanned[$1].facts.releaseID }) {
            matching, number, known, _ in
            matching.isSameRelease(number, known)
        }
        take(missing, by: { Set($0.names.map(Self.name)) }, { names[$1] }) { matching, number, known, others in
            let name = names[number] ?? ""
            return matching.isSameName(number, known, name, isOnly: others == 1 && counts[name] == 1)
        }
        take(missing, by: { Set(($0.record?.places ?? []).map(\.folders)) }, { $0.scanned[$1].places.first?.folders }) {
            matching, number, known, _ in matching.isSameFolder(number, known)
        }
        // Renamed, and with other tags.
        take(
            missing, by: { Set([Self.telling($0.record?.facts.lengths ?? [])].compactMap(\.self)) },
            {
                Self.telling($0.scanned[$1].facts.lengths)
            }
        ) { _, _, known, others in
            let folders = known.record?.places.flatMap(\.folders) ?? []
            return others == 1 && !known.isDeleted && folders.allSatisfy(isGone)
        }
    }

    private mutating func takeUnchanged() {
        var byFacts: [AlbumQuery: [Int]] = [:]
        for (index, known) in known.enumerated() where !known.isDeleted {
            if let facts = known.record?.facts { byFacts[facts, default: []].append(index) }
        }
        var taken: Set<Int> = []
        for number in scanned.indices {
            let folders = Set(scanned[number].places.map(\.folders))
            let found = byFacts[scanned[number].facts]?.first { index in
                !taken.contains(index) && known[index].record?.places.contains { folders.contains($0.folders) } == true
            }
            guard let found else { continue }
            taken.insert(found)
            ids[number] = known[found].id
        }
        known = known.enumerated().filter { !taken.contains($0.offset) }.map(\.element)
    }

    /// Gives albums without an id one of those that have the same key, if they are the same by a rule.
    /// - Parameters:
    ///   - keys: Those of a known album.
    ///   - key: That of the album with a number.
    ///   - isSame: Is given the number of the album, a known one, and how many known ones have its key.
    private mutating func take<Key: Hashable>(
        _ numbers: [Int], by keys: (Known) -> Set<Key>, _ key: (Self, Int) -> Key?,
        _ isSame: (Self, Int, Known, Int) -> Bool
    ) {
        var indices: [Key: [Int]] = [:]
        for (index, known) in known.enumerated() { for key in keys(known) { indices[key, default: []].append(index) } }
        var taken: Set<Int> = []
        for number in numbers where ids[number] == nil {
            let others = key(self, number).flatMap { indices[$0] } ?? []
            let same = others.filter { !taken.contains($0) && isSame(self, number, known[$0], others.count) }
            // Of several the one that is where it was.
            let best = same.max { rank(number, known[$0]) < rank(number, known[$1]) }
            guard let best else { continue }
            taken.insert(best)
            ids[number] = known[best].id
        }
        known = known.enumerated().filter { !taken.contains($0.offset) }.map(\.element)
    }

    private func rank(_ number: Int, _ known: Known) -> Int {
        (known.isDeleted ? 0 : 4) + (folders(number, known).areSame ? 2 : 0)
            + (lengthsAgree(number, known) == true ? 1 : 0)
    }

    // MARK: Rules

    private func isSameRelease(_ number: Int, _ known: Known) -> Bool {
        !known.isDeleted && known.names.contains { !Self.contradict($0, scanned[number].facts) }
    }

    /// - Parameters:
    ///   - name: The scanned album's.
    ///   - isOnly: No other album has the name.
    private func isSameName(_ number: Int, _ known: Known, _ name: String, isOnly: Bool) -> Bool {
        let (facts, folders, lengths) = (scanned[number].facts, folders(number, known), lengthsAgree(number, known))
        return known.names.contains { other in
            guard Self.name(other) == name else { return false }
            let hasYears = facts.year != nil && other.year != nil
            if hasYears || known.isDeleted, facts.year != other.year { return false }
            // Names of files say that songs are the same which were ripped again.
            if let lengths { return lengths || folders.haveSameFiles && !known.isDeleted }
            // A root that has moved, or has another path, too.
            if folders.haveSameFiles || folders.areNamedAlike && facts == other { return true }
            if Self.isWeak(facts) { return false }
            // An album of a list, which no scan has seen, may have no year.
            guard hasYears else { return isOnly && known.record == nil }
            if folders.areSame { return true }
            let areOtherReleases =
                facts.releaseID != nil && other.releaseID != nil && facts.releaseID != other.releaseID
            let counts = (facts.trackCounts, other.trackCounts)
            return !areOtherReleases && (counts.0.isEmpty || counts.1.isEmpty || !counts.0.isDisjoint(with: counts.1))
        }
    }

    /// Tags that were corrected.
    private func isSameFolder(_ number: Int, _ known: Known) -> Bool {
        let (facts, folders) = (scanned[number].facts, folders(number, known))
        guard !known.isDeleted, folders.areSame, let former = known.record?.facts else { return false }
        if let lengths = lengthsAgree(number, known) {
            return lengths && min(SongLengths.count(facts.lengths), SongLengths.count(former.lengths)) >= 4
        }
        let haveOtherYears = facts.year != nil && former.year != nil && facts.year != former.year
        return folders.haveSameFiles && !haveOtherYears && !Self.contradict(facts, former)
    }

    // MARK: What is compared

    /// Lengths that no other album has, to the millisecond; nil if they may be those of another one.
    private static func telling(_ lengths: [Int]) -> [Int]? {
        Set(lengths).count >= 3 && !lengths.contains(0) ? lengths : nil
    }

    /// The folded artist and title.
    static func name(_ facts: AlbumQuery) -> String {
        let artist = FoldedText(artist: Folding.albumArtist(facts.artist)).key
        return "\(artist)|\(FoldedText(facts.title, year: facts.year).wholeKey)"
    }

    /// Whether artist or title of two albums say that they are not the same.
    static func contradict(_ first: AlbumQuery, _ second: AlbumQuery) -> Bool {
        let names = [first, second].map { AlbumQuery(artist: $0.artist, title: $0.title) }
        return Match.judge(names[0], names[1]).certainty == .none
    }

    /// Whether artist, title and year are not enough.
    private static func isWeak(_ facts: AlbumQuery) -> Bool {
        let named = AlbumQuery(artist: facts.artist, title: facts.title, year: facts.year ?? 2_000)
        return Match.judge(named, named).certainty != .certain
    }

    private func lengthsAgree(_ number: Int, _ known: Known) -> Bool? {
        SongLengths.agree(
            scanned[number].facts.lengths, known.record?.facts.lengths ?? [],
            allowsMissing: folders(number, known).areSame)
    }

    /// Whether an album was in the same folders, had the same files there, and had the same files in folders of the same names.
    private func folders(
        _ number: Int, _ known: Known
    ) -> (areSame: Bool, haveSameFiles: Bool, areNamedAlike: Bool) {
        let (places, others) = (scanned[number].places, known.record?.places ?? [])
        let former = Dictionary(others.map { ($0.folders, $0) }) { first, _ in first }
        let same = places.compactMap { place in former[place.folders].map { ($0, place) } }
        let areNamedAlike = places.contains { place in
            others.contains { other in
                place.namesDigest != nil && place.namesDigest == other.namesDigest
                    && place.folders.map(\.name) == other.folders.map(\.name)
            }
        }
        return (!same.isEmpty, !same.isEmpty && same.allSatisfy { $0.hasSameFiles(as: $1) }, areNamedAlike)
    }
}

extension AlbumPlace {
    /// Whether its files have the names of another one's, as far as these are known.
    fileprivate func hasSameFiles(as other: AlbumPlace) -> Bool {
        let areKnown = namesDigest != nil && other.namesDigest != nil
        return areKnown ? namesDigest == other.namesDigest : tracks == other.tracks
    }
}
