/// Makes a folder's parts of albums from the tags of its files.
package struct FolderReducer {
    private enum Key: Hashable {
        case release(String)
        case group(String)
        case titled(title: String, artist: String?)
    }

    private var (order, groups): ([Key], [Key: [AudioTags]]) = ([], [:])

    /// - Parameter readsCover: Reads the size of a cover that was found.
    package static func contents(
        of listing: FolderListing, tags: [AudioTags], problems: [MusicProblem], readsCover: (inout CoverFile) -> Void
    ) -> FolderContents {
        var contents = FolderContents()
        contents.files = listing.audio.count
        contents.problems = problems
        let tagged = tags.filter { !$0.album.isEmpty && !unknownTitles.contains(Folding.key($0.album)) }
        contents.untagged = tags.count - tagged.count
        var known: [BytePath: CoverFile] = [:]
        func cover(album: String?) -> CoverFile? {
            guard let entry = CoverName.best(of: listing.pictures, album: album) else { return nil }
            var cover = CoverFile(path: listing.path.appending(entry.name), byteCount: entry.size)
            if let known = known[cover.path] { return known }
            readsCover(&cover)
            known[cover.path] = cover
            return cover
        }
        contents.cover = cover(album: nil)
        contents.albums = Self(tagged).fragments.map { fragment in
            var fragment = fragment
            fragment.cover = cover(album: fragment.title)
            return fragment
        }
        return contents
    }

    /// What some programs write for an album that they do not know.
    private static let unknownTitles: Set<String> = ["unknown album", "unknown", "[unknown album]"]

    private init(_ files: [AudioTags]) {
        for file in files { add(file, to: Self.key(of: file)) }
        findArtists()
    }

    private static func key(of file: AudioTags) -> Key {
        if let id = file.releaseID { return .release(id) }
        if let id = file.releaseGroupID { return .group(id) }
        let artist = file.albumArtist.isEmpty ? nil : Folding.key(Folding.albumArtist(file.albumArtist))
        return .titled(title: Folding.key(file.album), artist: artist)
    }

    private mutating func add(_ file: AudioTags, to key: Key) {
        if groups[key] == nil { order.append(key) }
        groups[key, default: []].append(file)
    }

    /// Files without an album artist belong to the only album of their title; else they are one album, by their artist or by several.
    private mutating func findArtists() {
        for key in order {
            guard case .titled(let title, nil) = key, let files = groups.removeValue(forKey: key) else { continue }
            order.removeAll { $0 == key }
            let others = order.filter { if case .titled(title, .some) = $0 { true } else { false } }
            let artist = others.count == 1 ? nil : Folding.key(Self.artist(of: files))
            for file in files { add(file, to: artist.map { .titled(title: title, artist: $0) } ?? others[0]) }
        }
    }

    /// The album artist, or the artist of all files; featured artists do not count.
    private static func artist(of files: [AudioTags]) -> String {
        let albumArtist = Folding.mostCommon(files.lazy.map(\.albumArtist))
        if !albumArtist.isEmpty { return Folding.albumArtist(albumArtist) }
        if files.contains(where: \.isCompilation) || Set(files.lazy.map { Folding.primaryArtist($0.artist) }).count > 1
        {
            return Folding.variousArtists
        }
        return files.lazy.map(\.artist).min { $0.count < $1.count } ?? ""
    }

    private var fragments: [AlbumFragment] {
        order.flatMap { key -> [AlbumFragment] in
            let files = groups[key] ?? []
            guard case .titled = key, Self.hasTrackTwice(files) else { return [Self.fragment(files)] }
            return Dictionary(grouping: files, by: \.year).sorted { $0.key < $1.key }.map { Self.fragment($1) }
        }
    }

    /// Whether a track is there in two years: two albums of one title. Years alone may differ in one album: some programs write the year
    /// of each song.
    private static func hasTrackTwice(_ files: [AudioTags]) -> Bool {
        guard let first = files.first, files.contains(where: { $0.year != first.year }) else { return false }
        var years: [[Int]: String] = [:]
        return files.contains { file in
            guard let track = file.track else { return false }
            let former = years.updateValue(file.year, forKey: [file.disc ?? 1, track])
            return former.map { $0 != file.year } ?? false
        }
    }

    private static func fragment(_ files: [AudioTags]) -> AlbumFragment {
        var fragment = AlbumFragment()
        fragment.title = Folding.mostCommon(files.lazy.map(\.album))
        fragment.artist = artist(of: files)
        fragment.year = Folding.mostCommon(files.lazy.map(\.year))
        fragment.genre = Folding.mostCommon(files.lazy.map(\.genre))
        fragment.releaseID = files.first?.releaseID
        let groupID = Folding.mostCommon(files.lazy.compactMap(\.releaseGroupID))
        fragment.releaseGroupID = groupID.isEmpty ? nil : groupID
        fragment.tracks = files.count
        let pictures = files.compactMap(\.picture)
        fragment.embedded = pictures.first
        fragment.embeddedTracks = pictures.count
        fragment.embeddedDiffers = pictures.contains { $0.digest != pictures[0].digest }
        return fragment
    }
}
