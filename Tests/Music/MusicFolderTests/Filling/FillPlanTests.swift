import AlbumLibrary
import CoverSources
import Platform
import Testing

@testable import MusicFolder

@Suite struct FillPlanTests {
    private func scanned(
        _ folders: String..., cover: String? = nil, mediaType: String? = "image/jpeg", isShared: Bool = false
    ) -> ScannedAlbum {
        var album = ScannedAlbum()
        album.places = folders.map { folder in
            var place = AlbumPlace()
            (place.folders, place.coverFolders, place.isShared) = ([BytePath(folder)], [BytePath(folder)], isShared)
            place.cover = cover.map { CoverFile(path: BytePath("\(folder)/\($0)")) }
            place.cover?.mediaType = mediaType
            return place
        }
        return album
    }

    private func plan(
        _ albums: [ScannedAlbum], written: [Written] = [], upgrades: Bool = false, accepts: Bool = false,
        embeds: Bool = false,
        filled: [Album.ID: FilledAddress] = [:],
        obstacle: (BytePath) -> FillPlan.Obstacle? = { _ in nil }
    ) -> FillPlan {
        var options = FillOptions()
        (options.upgrades, options.writesAcceptedOnly, options.embeds) = (upgrades, accepts, embeds)
        return FillPlan(
            albums.map { ($0, Album(id: "1", title: "Low Tide")) }, written: written, filled: filled,
            options: options, obstacle: obstacle)
    }

    private func file(_ folder: String, _ name: String) -> Written {
        Written(
            folder: BytePath(folder), name: Array(name.utf8), digest: Digest(of: [1]), width: 10, height: 10,
            album: "1", run: 1)
    }

    @Test func `each folder of an album without a cover is a target`() {
        let plan = plan([scanned("/m/a", "/n/a"), scanned("/m/b", cover: "Folder.JPG")])
        #expect(plan.jobs.map { $0.targets.map(\.folder) } == [[BytePath("/m/a"), BytePath("/n/a")]])
        #expect(plan.covered == 1)
    }

    @Test func `a folder with other albums, and one that takes no file, are obstacles`() {
        let albums = [scanned("/m/a", isShared: true), scanned("/m/b")]
        let plan = plan(albums, obstacle: { $0 == BytePath("/m/b") ? .readOnly : nil })
        #expect(plan.jobs.isEmpty)
        #expect(plan.obstacles.map(\.obstacle) == [.shared, .readOnly])
    }

    @Test func `an album in a folder of several gets its cover into its tags, if some have none`() {
        var (lacking, tagged) = (scanned("/m/a", isShared: true), scanned("/m/a", isShared: true))
        lacking.places[0].tracks = 3
        (tagged.places[0].tracks, tagged.places[0].embeddedTracks) = (3, 3)
        let plan = plan([lacking, tagged], embeds: true)
        #expect(plan.jobs.map(\.tagFolders) == [[BytePath("/m/a")]] && plan.jobs.allSatisfy { $0.targets.isEmpty })
        #expect(plan.obstacles.isEmpty)
    }

    @Test func `a cover that a fill wrote for the album that was in the folder before is replaced`() {
        var former = file("/m/a", "cover.jpg")
        former.album = "2"
        let plan = plan([scanned("/m/a", cover: "cover.jpg")], written: [former])
        #expect(plan.jobs.map { $0.targets.map(\.former) } == [[former]] && plan.covered == 0 && plan.present.isEmpty)
        let shared = self.plan([scanned("/m/a", cover: "cover.jpg", isShared: true)], written: [former])
        #expect(shared.jobs.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a cover that is not certain for today's tags may be replaced, and counts only until that is known`(
        isOther: Bool
    ) {
        var former = file("/m/a", "cover.jpg")
        former.number = 7
        let plan = FillPlan(
            [(scanned("/m/a", cover: "cover.jpg"), Album(id: "1", title: "Low Tide"))],
            written: [former], outdated: [7: OutdatedCover(source: .itunes, isOther: isOther, cause: .tags)],
            options: FillOptions(),
            obstacle: { _ in nil })
        #expect(plan.jobs.flatMap(\.targets).map(\.outdated?.isOther) == [isOther])
        #expect(plan.covered == (isOther ? 0 : 1))
    }

    @Test func `a file that is no image is an obstacle and no cover`() {
        let plan = plan([scanned("/m/a", cover: "cover.jpg", mediaType: nil)])
        #expect(plan.jobs.isEmpty && plan.present.isEmpty && plan.covered == 0)
        #expect(plan.obstacles.map(\.obstacle) == [.noImage(BytePath("/m/a/cover.jpg"))])
    }

    @Test(arguments: [false, true])
    func `only an upgrade looks at a file that a fill has written`(upgrades: Bool) {
        let own = file("/m/a", "cover.jpg")
        let plan = plan([scanned("/m/a", cover: "cover.jpg")], written: [own], upgrades: upgrades)
        #expect(plan.jobs.flatMap(\.targets).map(\.former) == (upgrades ? [own] : []))
        #expect(plan.covered == 1)
    }

    @Test func `an upgrade leaves a person's file alone`() {
        let plan = plan([scanned("/m/a", cover: "folder.png")], written: [file("/m/a", "cover.jpg")], upgrades: true)
        #expect(plan.jobs.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an upgrade, and an accepted cover, replace what fills wrote for each disc`(accepts: Bool) {
        var album = scanned("/m/1", cover: "cover.jpg")
        let folders = [BytePath("/m/1"), BytePath("/m/2")]
        (album.places[0].folders, album.places[0].coverFolders) = (folders, folders)
        let files = [file("/m/1", "cover.jpg"), file("/m/2", "cover.jpg")]
        let both = plan([album], written: files, upgrades: !accepts, accepts: accepts)
        #expect(both.jobs.flatMap(\.targets).map(\.former) == files && both.present.isEmpty)
        // The writer finds, and names, the file of a person.
        let second = plan([album], written: [files[1]], upgrades: !accepts, accepts: accepts)
        #expect(second.jobs.flatMap(\.targets).map(\.former) == (accepts ? [nil, files[1]] : [files[1]]))
        #expect(second.present.map(\.file) == (accepts ? [] : [files[0].path]))
    }

    @Test func `every album of a shared folder is told why it gets no file`() {
        let plan = plan([scanned("/m/a", isShared: true), scanned("/m/a", isShared: true)])
        #expect(plan.obstacles.map(\.obstacle) == [.shared, .shared])
    }

    @Test func `covers that are there are listed, each for its album`() {
        let plan = plan([scanned("/m/a", cover: "cover.jpg"), scanned("/m/b")])
        #expect(plan.present.map(\.file) == [BytePath("/m/a/cover.jpg")])
    }

    @Test func `an album whose name another one of the library has needs more evidence`() {
        let library = [("1", "Low Tide", "1971"), ("2", "LOW TIDE", "1999"), ("3", "High Water", "1971")].map {
            Album(id: $0.0, title: $0.1, artist: "A", year: $0.2)
        }
        let albums = library.map { album in (scanned: scanned("/m/\(album.id)"), album: Album?.some(album)) }
        let plan = FillPlan(albums, of: library, written: [], options: .init(), obstacle: { _ in nil })
        #expect(plan.jobs.map(\.query.hasNamesake) == [true, true, false])
    }

    @Test func `an address of a fill is no person's`() {
        let filled = FilledAddress(url: "https://a.example/1", facts: AlbumQuery(artist: "", title: "Low Tide"))
        for (url, expected) in [("https://a.example/1", filled), ("https://a.example/2", nil)] {
            let album = Album(id: "1", title: "Low Tide", coverURL: url)
            #expect(FillJob(scanned("/m/a"), album, filled: filled).filled == expected)
        }
    }

    @Test func `the albums of a folder that has no cover are one line`() {
        let plan = plan([
            scanned("/m/a", isShared: true), scanned("/m/a", isShared: true), scanned("/m/b", isShared: true),
        ])
        #expect(plan.blocked.map(\.place) == [BytePath("/m/a"), BytePath("/m/b")])
        #expect(plan.blocked.map(\.albums.count) == [2, 1])
    }

    @Test func `a picture in the tags of all songs is the album's, unless albums of three artists have it`() {
        func tagged(_ artist: String, _ embedded: Int = 2, title: String? = nil) -> ScannedAlbum {
            var album = scanned("/m/\(artist)")
            (album.facts.artist, album.facts.title) = (artist, title ?? "By \(artist)")
            (album.places[0].tracks, album.places[0].embeddedTracks) = (2, embedded)
            album.places[0].embedded = EmbeddedPicture(
                type: 3, mediaType: "image/png", width: 9, height: 9, byteCount: 9, digest: Digest(of: [1]))
            return album
        }
        #expect(
            plan([tagged("A"), tagged("B")]).jobs.map(\.embedded?.digest) == [Digest(of: [1]), Digest(of: [1])])
        #expect(plan([tagged("A", 1)]).jobs.map(\.embedded) == [nil])
        #expect(plan([tagged("A"), tagged("B"), tagged("C")]).jobs.map(\.embedded) == [nil, nil, nil])
        // A compilation in its artists' folders.
        let parts = ["A", "B", "C"].map { tagged($0, title: "Tide") }
        #expect(plan(parts).jobs.allSatisfy { $0.embedded != nil })
    }
}
