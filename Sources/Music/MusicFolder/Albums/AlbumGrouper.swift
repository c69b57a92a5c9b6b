import CoverSources
import Platform

/// Makes albums of folders: of the parts that each has, those are joined that are discs, copies or halves of one album.
struct AlbumGrouper {
    /// Parts of one name may be of one album.
    private struct Name: Hashable {
        var title, artist: String
    }

    private struct Title: Hashable {
        var text: String
        /// Of the same tags.
        var year: Int?
    }

    /// Of more parts of one name, only discs are joined: comparing all of them takes quadratic time.
    private static let maximumCompared = 300
    /// More folders of one name are no discs.
    private static let maximumDiscs = 40

    private let tree: FolderTree
    private let sleeves: SleevesPictures
    private var folderDiscs: [BytePath: DiscName] = [:]
    private var parts: [AlbumPart] = []
    private var titles: [Name] = []
    /// MusicBrainz ids of several albums: those of boxes, and wrong ones.
    private var doubtfulIDs: Set<String> = []
    /// The album of each part: the number of its first part.
    private var albums: [Int] = []
    /// The folder that contains the discs' folders, for parts that are discs.
    private var discParents: [Int: BytePath] = [:]

    /// - Parameters:
    ///   - folders: What is known of each folder.
    ///   - roots: The scanned folders.
    ///   - unread: Files and folders that could not be read, and links that were not followed.
    ///   - sleeves: What fills have written.
    static func albums(
        of folders: [BytePath: FolderContents], roots: [BytePath], unread: [BytePath], sleeves: SleevesPictures
    ) -> [ScannedAlbum] {
        var grouper = Self(FolderTree(folders, roots, unread: unread), sleeves)
        grouper.join()
        return grouper.scannedAlbums()
    }

    private init(_ tree: FolderTree, _ sleeves: SleevesPictures) {
        (self.tree, self.sleeves) = (tree, sleeves)
        for folder in tree.paths where !tree.roots.contains(folder) {
            folderDiscs[folder] = DiscName(String(decoding: folder.name, as: UTF8.self))
        }
        let endings = TitleEndings(tree)
        var names = MainArtist.Names()
        for folder in tree.paths {
            parts += AlbumPart.parts(
                of: tree[folder], in: folder, folderDisc: folderDiscs[folder], names: &names
            ) { endings.disc($0, in: folder) }
        }
        var folded: [Title: String] = [:]
        let counts = parts.reduce(into: [:]) { $0[$1.artist.key, default: 0] += 1 }
        for part in parts {
            // An artist of one album needs no title: folding takes long.
            guard counts[part.artist.key] != 1 else {
                titles.append(Name(title: "", artist: part.artist.key))
                continue
            }
            let title = Title(text: part.title, year: part.only(\.year).flatMap { Int($0) })
            let key = folded[title] ?? FoldedText(title.text, year: title.year).wholeKey
            folded[title] = key
            titles.append(Name(title: key, artist: part.artist.key))
        }
        albums = Array(parts.indices)
        findDoubtfulIDs()
    }

    private mutating func findDoubtfulIDs() {
        var names: [String: Name] = [:]
        for (part, name) in zip(parts, titles) {
            for (tags, _) in part.credits {
                for id in [tags.releaseID, tags.releaseGroupID].compactMap(\.self) {
                    if names.updateValue(name, forKey: id) ?? name != name { doubtfulIDs.insert(id) }
                }
            }
        }
    }

    /// The only release of a part's songs.
    private func releaseID(_ part: Int) -> String? {
        parts[part].only(\.releaseID).flatMap { doubtfulIDs.contains($0) ? nil : $0 }
    }

    // MARK: Joining

    private mutating func join() {
        let byName = Dictionary(grouping: parts.indices) { titles[$0] }
        for same in byName.values where same.count > 1 { join(same.sorted()) }
        for (part, disc) in parts.indices.map({ ($0, folderDiscs[parts[$0].folder]) }) where discParents[part] == nil {
            // A disc of which no other is here.
            guard let disc, disc.isStrong, disc.title.isEmpty else { continue }
            discParents[part] = parts[part].folder.parent
        }
    }

    /// Joins parts of one name.
    private mutating func join(_ same: [Int]) {
        let ids = Dictionary(uniqueKeysWithValues: same.map { ($0, releaseID($0)) })
        let known = Dictionary(grouping: same.filter { ids[$0] != .some(nil) }) { ids[$0] }
        for release in known.values { for part in release.dropFirst() { unite(release[0], part) } }
        for (part, other) in pairs(same) where areDiscs(part, other) { unite(part, other) }
        if same.count > Self.maximumCompared { return }
        // Parts without an id last: if several albums fit, they are of none.
        for (part, other) in pairs(same) where (ids[part] == .some(nil)) == (ids[other] == .some(nil)) {
            if ids[part] == ids[other], areOne(part, other, of: same) { unite(part, other) }
        }
        for part in same where ids[part] == .some(nil) {
            let fitting = Set(
                same.filter { ids[$0] != .some(nil) && album($0) != album(part) && areOne(part, $0, of: same) }.map(
                    album))
            let isWithID = same.contains { ids[$0] != .some(nil) && album($0) == album(part) }
            if fitting.count == 1, !isWithID, let other = fitting.first { unite(part, other) }
        }
    }

    /// The pairs that may be one album: those of neighbouring folders if there are many.
    private func pairs(_ same: [Int]) -> [(Int, Int)] {
        let groups =
            same.count <= Self.maximumCompared
            ? [same] : Array(Dictionary(grouping: same) { parts[$0].folder.parent }.values)
        return groups.lazy.filter { $0.count <= Self.maximumCompared }.flatMap { group in
            group.indices.flatMap { index in group[..<index].map { ($0, group[index]) } }
        }
    }

    private func album(_ part: Int) -> Int {
        var album = part
        while albums[album] != album { album = albums[album] }
        return album
    }

    private mutating func unite(_ part: Int, _ other: Int) {
        let (first, second) = (album(part), album(other))
        albums[max(first, second)] = min(first, second)
    }

    /// Whether two parts are discs of one album, in folders beside each other or one in the other; remembers the folder that contains them.
    private mutating func areDiscs(_ first: Int, _ second: Int) -> Bool {
        let (part, other) = (parts[first], parts[second])
        let areApart = Set(part.songs.lazy.map(\.disc)).isDisjoint(with: other.songs.lazy.map(\.disc))
        if part.folder == other.folder { return areApart && (part.ending != nil || other.ending != nil) }
        let (parent, otherParent) = (part.folder.parent, other.folder.parent)
        guard let above = parent == otherParent || otherParent == part.folder ? otherParent : nil else { return false }
        let discs = (folderDiscs[part.folder], folderDiscs[other.folder])
        let areDiscs: Bool
        if let disc = discs.0, let next = discs.1, above == parent, disc.isStrong == next.isStrong {
            let areBeside = disc.number != next.number && Folding.key(disc.title) == Folding.key(next.title)
            areDiscs =
                areBeside && (disc.isStrong || part.title == other.title && !part.list.overlaps(other.list))
        } else if above == part.folder {
            areDiscs = discs.1?.isStrong == true && areApart
        } else if part.ending != nil || other.ending != nil {
            areDiscs =
                areApart && (part.ending != nil && other.ending != nil || part.only(\.year) == other.only(\.year))
        } else {
            // By their tags alone.
            let totals = Set((part.songs + other.songs).lazy.map(\.discTotal))
            let (year, nextYear) = (part.only(\.year), other.only(\.year))
            areDiscs = areApart && totals.count == 1 && totals.first ?? 0 > 1 && year == nextYear && year != nil
        }
        if areDiscs { for part in [first, second] { discParents[part] = above } }
        return areDiscs
    }

    /// Whether two parts are one album: copies, or halves of it.
    /// - Parameter same: The parts of their name.
    private func areOne(_ first: Int, _ second: Int, of same: [Int]) -> Bool {
        let (part, other) = (parts[first], parts[second])
        let (year, otherYear) = (part.only(\.year), other.only(\.year))
        if part.isUnresolved || other.isUnresolved || year != nil && otherYear != nil && year != otherYear {
            return false
        }
        let (list, otherList) = (part.list, other.list)
        if list.isCopy(of: otherList, needsLengths: year != otherYear) { return true }
        let haveOneTotal = year != nil && year == otherYear && list.total != nil && list.total == otherList.total
        guard part.folder == other.folder || haveOneTotal else { return false }
        let albums = Set([album(first), album(second)])
        return !TrackList.clash(same.lazy.filter { albums.contains(album($0)) }.flatMap { parts[$0].songs })
    }

    // MARK: Albums

    private func scannedAlbums() -> [ScannedAlbum] {
        let groups = Dictionary(grouping: parts.indices, by: album).values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
        var (owners, names) = (FolderOwners(tree), MainArtist.Names())
        for group in groups {
            for part in group { owners.add(parts[part].songs.count, of: group[0], in: parts[part].folder) }
        }
        let albums = groups.map { group in
            let part = parts[group[0]].artist
            let artist =
                group.count == 1 && part.name != MainArtist.various
                ? part : MainArtist(group.flatMap { parts[$0].credits }, isWhole: true, &names)
            let places = Dictionary(grouping: group) { discParents[$0] ?? parts[$0].folder }.sorted { $0.key < $1.key }
                .map { (folder: $0, parts: $1.map { parts[$0] }) }
            var album = ScannedAlbum(places.map(\.parts), by: artist, doubtfulIDs: doubtfulIDs)
            let choice = CoverChoice(album.titles, isSleeves: sleeves.isFile)
            album.places = places.map { place($0.folder, $0.parts, artist, album: group[0], owners, choice) }
            return album
        }
        return Self.findingSets(albums)
    }

    /// Tells albums of one name, in folders beside each other or in the folder above, what all of them contain: they may be discs, whatever the
    /// folders are called.
    private static func findingSets(_ albums: [ScannedAlbum]) -> [ScannedAlbum] {
        struct Names: Hashable {
            var folder: BytePath
            var title, artist: String
            var year: Int?
        }
        func names(_ album: ScannedAlbum, in folder: BytePath) -> Names {
            Names(folder: folder, title: album.title, artist: album.artist, year: album.facts.year)
        }
        var (below, above): ([Names: [Int]], [Names: Int]) = ([:], [:])
        for (index, album) in albums.enumerated() where album.places.count == 1 && album.places[0].folders.count == 1 {
            let folder = album.places[0].folders[0]
            guard let parent = folder.parent, !album.facts.lengths.isEmpty, !album.facts.lengths.contains(0) else {
                continue
            }
            below[names(album, in: parent), default: []].append(index)
            above[names(album, in: folder)] = index
        }
        var albums = albums
        for (names, discs) in below.sorted(by: { $0.key.folder < $1.key.folder }) {
            let order = discs.map { ($0, DiscName.order(albums[$0].places[0].folders[0].name)) }.sorted { $0.1 < $1.1 }
            let set = (above[names].map { [$0] } ?? []) + order.map(\.0)
            guard (2...maximumDiscs).contains(set.count) else { continue }
            let lengths = set.flatMap { albums[$0].facts.lengths }
            for index in set { albums[index].facts.setLengths = lengths }
        }
        return albums
    }

    /// - Parameter folder: Of the songs, or the one that contains the folders of discs.
    private func place(
        _ folder: BytePath, _ parts: [AlbumPart], _ artist: MainArtist, album: Int, _ owners: FolderOwners,
        _ choice: CoverChoice
    ) -> AlbumPlace {
        var place = AlbumPlace(parts, sleeves)
        func isNamedAsArtist(_ folder: BytePath) -> Bool {
            let name = FoldedText(artist: String(decoding: folder.name, as: UTF8.self)).key
            let artists = parts.lazy.filter { $0.folder == folder }.flatMap(\.credits).map {
                FoldedText(artist: $0.tags.artist).key
            }
            return name == artist.key || artists.contains(name)
        }
        let hasParent =
            place.folders != [folder] && owners.ownsAll(in: folder, album) && !isNamedAsArtist(folder)
        place.coverFolders = hasParent ? [folder] : place.folders
        place.isShared = place.folders.contains { audio in
            // A picture above other albums is the artist's, or that of all music.
            let isAboveOthers = tree.hasAudio(below: audio) && !owners.ownsAll(in: audio, album)
            return !owners.owns(audio, album) || isAboveOthers && (tree.roots.contains(audio) || isNamedAsArtist(audio))
        }
        if place.isShared { return place }
        func cover(in folder: BytePath) -> CoverFile? {
            var cover = choice.cover(among: tree[folder].pictures)
            if cover?.isRead == false { cover?.readHeader() }
            return cover
        }
        place.covers = place.folders.compactMap(cover)
        if place.covers.count == place.folders.count {
            place.cover = place.covers.first
        } else if hasParent, let above = cover(in: folder) {
            place.cover = above
            if !place.covers.contains(above) { place.covers.insert(above, at: 0) }
        }
        return place
    }
}
