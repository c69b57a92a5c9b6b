import Testing

@testable import MusicFolder

@Suite struct AlbumGrouperTests {
    /// Folders by path, each with the tags of its files.
    private func albums(_ folders: [String: [AudioTags]], pictures: [String] = [], roots: [String] = ["/m"])
        -> [ScannedAlbum]
    {
        var listings: [String: FolderListing] = [:]
        for path in folders.keys { listings[path] = FolderListing(path: BytePath(path)) }
        for picture in pictures {
            let path = BytePath(picture)
            let folder = path.parent!.description
            var entry = FolderListing.Entry(path.name)
            entry.size = 1
            listings[folder, default: FolderListing(path: path.parent!)].pictures.append(entry)
        }
        var contents: [BytePath: FolderContents] = [:]
        for (path, var listing) in listings {
            let tags = folders[path] ?? []
            listing.audio = tags.indices.map { FolderListing.Entry(Array("\($0).mp3".utf8)) }
            contents[listing.path] = FolderReducer.contents(of: listing, tags: tags, problems: []) { _ in }
        }
        return AlbumGrouper.albums(of: contents, roots: roots.map { BytePath($0) })
    }

    private func tags(
        _ album: String = "Low Tide", by artist: String = "A", albumArtist: String = "", year: String = "",
        track: Int? = nil,
        release: String? = nil, group: String? = nil, isCompilation: Bool = false, picture: String? = nil
    ) -> AudioTags {
        var tags = AudioTags()
        (tags.album, tags.artist, tags.albumArtist, tags.year, tags.track) = (album, artist, albumArtist, year, track)
        (tags.releaseID, tags.releaseGroupID, tags.isCompilation) = (release, group, isCompilation)
        tags.picture = picture.map { EmbeddedPicture(type: 3, byteCount: 1, digest: $0) }
        return tags
    }

    private func names(_ albums: [ScannedAlbum]) -> [String] { albums.map { "\($0.artist): \($0.title) \($0.year)" } }

    @Test func `discs of two albums below one folder have their covers in their own folders`() {
        let found = albums(
            ["/m/x/CD1": [tags("Low Tide")], "/m/x/CD2": [tags("High Water")]], pictures: ["/m/x/cover.jpg"])
        #expect(found.flatMap(\.places).map { $0.coverFolders.map(\.description) } == [["/m/x/CD1"], ["/m/x/CD2"]])
        #expect(found.allSatisfy { !$0.hasCover }, "the picture above them is that of neither")
    }

    @Test func `a release is one album in all folders, with a place for each`() {
        let found = albums([
            "/m/a": [tags(release: "1")], "/m/b": [tags("Low Tide (Remaster)", release: "1"), tags(release: "1")],
        ])
        #expect(found.count == 1 && found[0].releaseID == "1" && found[0].tracks == 2)
        #expect(found[0].places.map { $0.folders.map(\.description) } == [["/m/a"], ["/m/b"]])
    }

    @Test func `two releases of one title stay apart`() {
        #expect(albums(["/m/a": [tags(release: "1")], "/m/b": [tags(release: "2")]]).count == 2)
        #expect(albums(["/m/a": [tags(release: "1"), tags(release: "2")]]).count == 2)
    }

    @Test
    func
        `tracks without an id belong to the release beside them, and to one of their artist, title and year elsewhere`()
    {
        let found = albums([
            "/m/a": [tags(year: "1971", release: "1"), tags(year: "1971")], "/m/b": [tags(year: "1971")],
        ])
        #expect(found.count == 1 && found[0].places.map(\.tracks) == [2, 1])
    }

    @Test func `an album in two folders is one, unless the years differ`() {
        #expect(albums(["/m/a": [tags(year: "1971")], "/m/b": [tags(year: "")]]).map(\.places.count) == [2])
        #expect(albums(["/m/a": [tags(year: "1971")], "/m/b": [tags(year: "1999")]]).count == 2)
        #expect(albums(["/m/a": [tags(by: "A")], "/m/b": [tags(by: "B")]]).count == 2)
    }

    @Test func `artists without an album artist are a compilation, featured ones are not`() {
        #expect(names(albums(["/m/a": [tags(by: "A"), tags(by: "B")]])) == ["Various Artists: Low Tide "])
        #expect(names(albums(["/m/a": [tags(by: "A", isCompilation: true)]])) == ["Various Artists: Low Tide "])
        #expect(
            names(albums(["/m/a": [tags(by: "A feat. B"), tags(by: "A"), tags(by: "A (ft. C)")]])) == ["A: Low Tide "])
        #expect(names(albums(["/m/a": [tags(by: "A", albumArtist: "X"), tags(by: "B")]])) == ["X: Low Tide "])
        #expect(names(albums(["/m/a": [tags(by: "A", albumArtist: "various")]])) == ["Various Artists: Low Tide "])
    }

    @Test func `compilations of one title in two folders are one only if both have the same year`() {
        let parts = { (year: String) in [self.tags(by: "A", year: year), self.tags(by: "B", year: year)] }
        #expect(albums(["/m/a": parts(""), "/m/b": parts("")]).count == 2)
        #expect(albums(["/m/a": parts("1971"), "/m/b": parts("1971")]).count == 1)
    }

    @Test func `years of songs do not part an album, two albums of one title in a folder do`() {
        let songs = albums([
            "/m/a": [tags(year: "1971", track: 1), tags(year: "1980", track: 2), tags(year: "1971", track: 3)]
        ])
        #expect(names(songs) == ["A: Low Tide 1971"])
        let twice = albums([
            "/m/a": [tags(year: "1971", track: 1), tags(year: "1980", track: 1), tags(year: "1980", track: 2)]
        ])
        #expect(names(twice) == ["A: Low Tide 1971", "A: Low Tide 1980"])
        #expect(twice.allSatisfy { $0.places[0].isShared })
    }

    @Test func `titles are compared without case, by canonical equivalence`() {
        #expect(albums(["/m/a": [tags("Caf\u{E9}"), tags("CAFE\u{301}")]]).count == 1)
    }

    @Test(arguments: [
        ["CD1", "CD2"], ["Disc 1 - Live", "disc 2"], ["Low Tide CD1", "Low Tide CD2"], ["Side A", "Side B"],
    ])
    func `folders of discs are one album`(names: [String]) {
        let found = albums([
            "/m/x/\(names[0])": [tags("Low Tide (Disc 1)")], "/m/x/\(names[1])": [tags("Low Tide [Disc 2]")],
        ])
        #expect(found.count == 1 && found[0].title == "Low Tide" && found[0].places.count == 1)
        #expect(found[0].places[0].folders.count == 2 && found[0].places[0].tracks == 2)
    }

    @Test
    func `a disc's cover is in its folder, else in the one that contains the discs, but never in the scanned one`() {
        let discs = ["/m/x/CD1": [tags()], "/m/x/CD2": [tags()]]
        let above = albums(discs, pictures: ["/m/x/cover.jpg"])[0].places[0]
        #expect(above.cover?.path == BytePath("/m/x/cover.jpg") && above.coverFolders == [BytePath("/m/x")])
        #expect(albums(discs, pictures: ["/m/x/CD1/cover.jpg"])[0].places[0].cover == nil)
        let each = albums(discs, pictures: ["/m/x/cover.jpg", "/m/x/CD1/cover.jpg", "/m/x/CD2/cover.jpg"])[0].places[0]
        #expect(each.cover?.path == BytePath("/m/x/CD1/cover.jpg"))
        let root = albums(["/m/CD1": [tags()], "/m/CD2": [tags()]], pictures: ["/m/cover.jpg"])[0].places[0]
        #expect(root.cover == nil && root.coverFolders.map(\.description) == ["/m/CD1", "/m/CD2"])
    }

    @Test func `the folder of an artist is no album's`() {
        #expect(albums(["/m/A/Low Tide": [tags()]], pictures: ["/m/A/folder.jpg"])[0].places[0].cover == nil)
    }

    @Test func `the title's own picture is the cover of its album only`() {
        let found = albums(["/m/a": [tags("One"), tags("Two")]], pictures: ["/m/a/One.jpg"])
        #expect(found.map { $0.places[0].cover?.path.description } == ["/m/a/One.jpg", nil])
    }

    @Test func `embedded covers that differ between tracks are said`() {
        #expect(
            albums(["/m/a": [tags(picture: "x"), tags(picture: "x"), tags()]])[0].places[0].embeddedDiffers == false)
        let place = albums(["/m/a": [tags(picture: "x"), tags(picture: "y")]])[0].places[0]
        #expect(place.embeddedDiffers && place.embedded?.digest == "x" && place.embeddedTracks == 2)
    }

    @Test func `files without an album are counted, not guessed`() {
        #expect(albums(["/m/Low Tide": [tags(""), tags("Unknown Album")]]).isEmpty)
        var listing = FolderListing(path: BytePath("/m/a"))
        listing.audio = [FolderListing.Entry(Array("1.mp3".utf8))]
        #expect(FolderReducer.contents(of: listing, tags: [tags("")], problems: []) { _ in }.untagged == 1)
    }
}
