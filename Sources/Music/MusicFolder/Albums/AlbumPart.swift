import CoverSources
import Platform

/// Songs of one folder that are an album, or a part of one.
struct AlbumPart {
    let folder: BytePath
    /// Of the folder.
    let tags: [SongTags]
    private(set) var songs: [Song]
    /// How many songs have tags, by their numbers in `tags`.
    private let counts: [(number: UInt32, count: Int)]
    /// As written, without the end that says which disc it is.
    private(set) var title = ""
    /// The disc that the end of the title says.
    private(set) var ending: DiscName?
    /// Whether different songs have one number, and nothing tells to which albums they belong.
    private(set) var isUnresolved = false
    var artist = MainArtist()

    /// The parts of a folder.
    /// - Parameters:
    ///   - folderDisc: The disc that the folder's name says.
    ///   - ending: The disc that the end of a title says.
    static func parts(
        of contents: FolderContents, in folder: BytePath, folderDisc: DiscName?, names: inout MainArtist.Names,
        ending: (String) -> DiscName?
    ) -> [AlbumPart] {
        let keys = contents.tags.map { $0.isAlbumUnknown ? nil : Folding.key($0.album) }
        var (order, groups): ([String], [String: [Song]]) = ([], [:])
        let areLengthsKnown = TrackList.areKnown(contents.songs.songs.lazy.map(\.length))
        for var song in contents.songs.songs where Int(song.tags) < keys.count {
            guard let key = keys[Int(song.tags)] else { continue }
            if !areLengthsKnown { song.length = 0 }
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(song)
        }
        return order.flatMap { key in
            var part = AlbumPart(folder: folder, tags: contents.tags, songs: groups[key] ?? [])
            part.findTitle(ending)
            part.findDiscs(folderDisc)
            return part.divided(&names).map { part in
                var part = part
                part.findTitle(ending)
                part.artist = MainArtist(part.credits, isWhole: false, &names)
                return part
            }
        }
    }

    private init(folder: BytePath, tags: [SongTags], songs: [Song]) {
        (self.folder, self.tags, self.songs) = (folder, tags, songs)
        var counts: [UInt32: Int] = [:]
        for song in songs { counts[song.tags, default: 0] += 1 }
        self.counts = counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private mutating func findTitle(_ ending: (String) -> DiscName?) {
        title = Folding.mostCommon(credits.map { ($0.tags.album, $0.count) })
        self.ending = ending(title)
        if let found = self.ending { title = found.title }
    }

    /// Finds the discs of songs: by the end of the title, by tags, by the folder.
    private mutating func findDiscs(_ folderDisc: DiscName?) {
        // Many programs number each disc 1.
        let isOne = Set(songs.lazy.map(\.disc)).subtracting([0]).count < 2
        let number = ending?.number ?? (folderDisc?.isStrong == true && isOne ? folderDisc?.number : nil)
        for index in songs.indices {
            if let number { songs[index].disc = UInt8(number) }
            if songs[index].disc == 0 { songs[index].disc = 1 }
        }
    }

    // MARK: Facts

    var list: TrackList { TrackList(songs) }

    /// The tags of the songs, and how many songs have each.
    var credits: [(tags: SongTags, count: Int)] { counts.map { (tags[Int($0.number)], $0.count) } }

    /// The value that all songs have which have one; nil if they have several, or none.
    func only(_ value: (SongTags) -> String?) -> String? { Self.only(of: credits, value) }

    static func only(of credits: [(tags: SongTags, count: Int)], _ value: (SongTags) -> String?) -> String? {
        var found: String?
        for (tags, _) in credits {
            guard let value = value(tags), !value.isEmpty, value != found else { continue }
            if found != nil { return nil }
            found = value
        }
        return found
    }

    // MARK: Dividing

    /// The albums that it is: divided by what is said of songs, until no two of an album have one number.
    private func divided(_ names: inout MainArtist.Names) -> [AlbumPart] {
        guard TrackList.clash(songs) else { return [self] }
        for value in [{ $0.album }, { $0.releaseID ?? "" }] as [(SongTags) -> String] {
            let groups = divided(by: value)
            if groups.count > 1 { return groups.flatMap { $0.divided(&names) } }
        }
        let byAlbumArtist = divided { names.name($0.albumArtist).key }
        if byAlbumArtist.count > 1, byAlbumArtist.allSatisfy({ $0.songs.count > 1 }) {
            return byAlbumArtist.flatMap { $0.divided(&names) }
        }
        // Songs of a compilation have years and artists of their own.
        for groups in [divided(by: \.year), divided { names.name($0.artist).key }]
        where groups.count > 1 && groups.allSatisfy(\.isLikeAlbum) {
            return groups
        }
        var part = self
        part.isUnresolved = !part.numberDiscs()
        return [part]
    }

    private var isLikeAlbum: Bool {
        songs.count > 1 && songs.contains { $0.track == 1 } && !TrackList.clash(songs)
    }

    /// - Parameter value: Empty for an unknown one. Songs of unknown value belong to the only other ones that they do not clash with.
    private func divided(by value: (SongTags) -> String) -> [AlbumPart] {
        let groups = Dictionary(grouping: songs) { value(tags[Int($0.tags)]) }
        let unknown = groups[""] ?? []
        let fitting = groups.keys.filter { $0 != "" && !TrackList.clash((groups[$0] ?? []) + unknown) }
        let home = fitting.count == 1 ? fitting[0] : ""
        let joined = Dictionary(grouping: songs) { song in
            let value = value(tags[Int(song.tags)])
            return value.isEmpty ? home : value
        }
        return joined.sorted { $0.key < $1.key }.map { AlbumPart(folder: folder, tags: tags, songs: $0.value) }
    }

    /// Numbers the discs of songs whose tracks begin again at 1 in the order of their files.
    /// - Returns: Whether they do so, and each disc has several songs.
    private mutating func numberDiscs() -> Bool {
        var (numbered, disc, last, count) = (songs, UInt8(1), UInt16(0), 0)
        for index in numbered.indices {
            let track = numbered[index].track
            if track > 0, track <= last {
                guard track == 1, count > 1, disc < 99 else { return false }
                (disc, count) = (disc + 1, 0)
            }
            if track > 0 { last = track }
            count += 1
            numbered[index].disc = disc
        }
        guard count > 1, disc > 1 else { return false }
        songs = numbered
        return true
    }
}
