/// Makes albums of folders: by MusicBrainz release, else by release group and folder, else by album artist, title, year and folder.
///
/// Folders of discs are one album: `CD1` and `CD2` below a folder without audio or beside each other, `Low Tide CD1` beside `Low Tide CD2`. An
/// album in two folders has two places.
package struct AlbumGrouper {
    private enum Key: Hashable {
        case release(String)
        case group(String, folder: Anchor)
        case titled(title: String, artist: String, year: String?, folder: Anchor)
    }

    /// The folder of an album, or what the folders of its discs have in common.
    private struct Anchor: Hashable {
        var folder: BytePath
        /// The title in the names of discs' folders; nil if `folder` contains the album's audio.
        var discs: String?
    }

    private struct Part {
        var folder: BytePath
        var anchor: Anchor
        var fragment: AlbumFragment
        var isShared: Bool
    }

    private let folders: [BytePath: FolderContents]
    private let roots: Set<BytePath>
    private var discs: [BytePath: DiscFolder] = [:]
    private var siblings: [Anchor: Int] = [:]
    /// The number of albums of each anchor.
    private var owners: [Anchor: Int] = [:]

    /// - Parameters:
    ///   - folders: What is known of each folder.
    ///   - roots: The scanned folders. Their own pictures are no album's cover unless they contain its audio.
    package static func albums(of folders: [BytePath: FolderContents], roots: [BytePath]) -> [ScannedAlbum] {
        var grouper = Self(folders, Set(roots))
        return grouper.albums()
    }

    private init(_ folders: [BytePath: FolderContents], _ roots: Set<BytePath>) {
        (self.folders, self.roots) = (folders, roots)
        for (path, contents) in folders where !contents.albums.isEmpty && !roots.contains(path) {
            guard let parent = path.parent, let disc = DiscFolder(String(decoding: path.name, as: UTF8.self)) else {
                continue
            }
            discs[path] = disc
            siblings[Anchor(folder: parent, discs: Folding.key(disc.title)), default: 0] += 1
        }
    }

    private func anchor(of folder: BytePath) -> Anchor {
        guard let disc = discs[folder], let parent = folder.parent else { return Anchor(folder: folder) }
        let anchor = Anchor(folder: parent, discs: Folding.key(disc.title))
        let hasOwnAudio = (folders[parent]?.files ?? 0) > 0
        let isDisc = siblings[anchor, default: 0] > 1 || disc.title.isEmpty && !hasOwnAudio
        return isDisc ? anchor : Anchor(folder: folder)
    }

    // MARK: Grouping

    private mutating func albums() -> [ScannedAlbum] {
        var (order, groups): ([Key], [Key: [Part]]) = ([], [:])
        for folder in folders.keys.sorted() {
            let fragments = folders[folder]?.albums ?? []
            let anchor = anchor(of: folder)
            for var fragment in fragments {
                if anchor.discs != nil, let title = DiscFolder(fragment.title)?.title, !title.isEmpty {
                    fragment.title = title
                }
                let key = Self.key(of: fragment, anchor, isYearSplit: Self.isYearSplit(fragment, fragments))
                if groups[key] == nil { order.append(key) }
                groups[key, default: []].append(
                    Part(folder: folder, anchor: anchor, fragment: fragment, isShared: fragments.count > 1))
            }
        }
        let albums = joined(order, groups)
        for album in albums { for anchor in Set(album.map(\.anchor)) { owners[anchor, default: 0] += 1 } }
        return albums.map(album).sorted {
            ($0.places.first?.folders.first ?? .init("")) < ($1.places.first?.folders.first ?? .init(""))
        }
    }

    /// Whether a folder has two albums of this title, which their years tell apart.
    private static func isYearSplit(_ fragment: AlbumFragment, _ all: [AlbumFragment]) -> Bool {
        all.count { $0.releaseID == nil && $0.title == fragment.title && $0.artist == fragment.artist } > 1
    }

    private static func key(of fragment: AlbumFragment, _ anchor: Anchor, isYearSplit: Bool) -> Key {
        if let id = fragment.releaseID { return .release(id) }
        if let id = fragment.releaseGroupID { return .group(id, folder: anchor) }
        return .titled(
            title: Folding.key(fragment.title), artist: Folding.key(fragment.artist),
            year: isYearSplit ? fragment.year : nil,
            folder: anchor)
    }

    /// The groups, with those joined that are places of one album: tracks without an id beside others of their album, and albums in
    /// several folders.
    private func joined(_ order: [Key], _ groups: [Key: [Part]]) -> [[Part]] {
        var albums: [[Part]] = []
        var byTitle: [AlbumName: [Int]] = [:]
        // Releases first: they are never joined to each other.
        let releases = order.filter { if case .release = $0 { true } else { false } }
        for key in releases + order.filter({ if case .release = $0 { false } else { true } }) {
            guard let parts = groups[key] else { continue }
            let name = AlbumName(parts)
            if case .release = key {
                byTitle[name, default: []].append(albums.count)
                albums.append(parts)
                continue
            }
            let isYearSplit = if case .titled(_, _, .some, _) = key { true } else { false }
            let candidates = (byTitle[name] ?? []).filter { index in
                !isYearSplit && albums[index].contains { $0.anchor == parts[0].anchor }
                    || Self.isSame(albums[index], parts)
            }
            if candidates.count == 1 {
                albums[candidates[0]] += parts
            } else {
                byTitle[name, default: []].append(albums.count)
                albums.append(parts)
            }
        }
        return albums
    }

    private struct AlbumName: Hashable {
        var title, artist: String

        init(_ parts: [Part]) {
            title = Folding.key(parts[0].fragment.title)
            artist = Folding.key(parts[0].fragment.artist)
        }
    }

    /// Whether albums of one title and artist in different folders are the same one. Compilations share titles, so their years must agree.
    private static func isSame(_ album: [Part], _ other: [Part]) -> Bool {
        let years = (album[0].fragment.year, other[0].fragment.year)
        if !years.0.isEmpty, !years.1.isEmpty { return years.0 == years.1 }
        return album[0].fragment.artist != Folding.variousArtists
    }

    // MARK: One album

    private func album(_ parts: [Part]) -> ScannedAlbum {
        var album = ScannedAlbum()
        let fragments = parts.map(\.fragment)
        album.title = Folding.mostCommon(fragments.lazy.map(\.title))
        album.artist = Folding.mostCommon(fragments.lazy.map(\.artist))
        album.year = Folding.mostCommon(fragments.lazy.map(\.year))
        album.genre = Folding.mostCommon(fragments.lazy.map(\.genre))
        album.releaseID = fragments.lazy.compactMap(\.releaseID).first
        album.releaseGroupID = fragments.lazy.compactMap(\.releaseGroupID).first
        album.places = Dictionary(grouping: parts, by: \.anchor).map { place($0, $1) }.sorted {
            $0.folders[0] < $1.folders[0]
        }
        return album
    }

    private func place(_ anchor: Anchor, _ parts: [Part]) -> AlbumPlace {
        var place = AlbumPlace()
        let fragments = parts.map(\.fragment)
        place.folders = Set(parts.lazy.map(\.folder)).sorted()
        place.tracks = fragments.reduce(0) { $0 + $1.tracks }
        place.isShared = parts.contains(where: \.isShared)
        let pictures = fragments.compactMap(\.embedded)
        place.embedded = pictures.first
        place.embeddedTracks = fragments.reduce(0) { $0 + $1.embeddedTracks }
        place.embeddedDiffers =
            fragments.contains(where: \.embeddedDiffers) || pictures.contains { $0.digest != pictures[0].digest }
        let hasParent =
            anchor.discs?.isEmpty == true && !roots.contains(anchor.folder) && (folders[anchor.folder]?.files ?? 0) == 0
            // Discs of several albums beside each other: a cover above them would be that of all.
            && owners[anchor] == 1
        place.coverFolders = hasParent ? [anchor.folder] : place.folders
        let covers = fragments.compactMap(\.cover)
        place.cover = covers.count == fragments.count ? covers.first : hasParent ? folders[anchor.folder]?.cover : nil
        return place
    }
}
