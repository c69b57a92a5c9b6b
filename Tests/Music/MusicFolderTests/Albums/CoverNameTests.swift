import Testing

@testable import MusicFolder

@Suite struct CoverNameTests {
    private func best(_ names: [String], album: String? = nil, empty: Set<String> = []) -> String? {
        var listing = FolderListing(path: BytePath("/m"))
        listing.pictures = names.map { name in
            var entry = FolderListing.Entry(Array(name.utf8))
            entry.size = empty.contains(name) ? 0 : 1
            return entry
        }
        return CoverName.best(of: listing.pictures, album: album).map { String(decoding: $0.name, as: UTF8.self) }
    }

    /// Each comes before the next.
    private static let order = [
        "cover.jpg", "Cover.JPEG", "cover.png", "COVER.webp", "cover.avif", "cover.jxl", "cover.gif", "cover.1.jpg",
        "cover (2).png", "folder.jpg",
        "Folder.png", "front.jpg", "album.jpg", "AlbumArt.jpg", "Low Tide.jpg", "AlbumArtSmall.jpg",
    ]

    @Test func `the first name of the order is the cover, in any case, with any extension`() {
        for index in Self.order.indices {
            #expect(best(Self.order[index...].reversed(), album: "Low Tide") == Self.order[index])
        }
    }

    @Test(arguments: [
        "back.jpg", "artist.jpg", "disc.png", "booklet.jpg", "fanart.jpg", "AlbumArt_{F3A1}_Small.jpg",
        "AlbumArt_{F3A1}_Large.jpg",
        "scan.jpg", "cover.bmp", "cover.txt", "mycover.jpg", "cover.jpg.part", "Other.jpg", "cover", ".jpg",
        "cover2020.jpg",
    ])
    func `any other picture is none`(name: String) { #expect(best([name], album: "Low Tide") == nil) }

    @Test func `the album's title is compared as text, not as bytes`() {
        #expect(best(["Grosse Fahrt e\u{301}.JPG"], album: "GROSSE FAHRT \u{E9}") != nil)
        #expect(best(["AC_DC.jpg"], album: "AC/DC") == "AC_DC.jpg")
        #expect(best([".jpg"], album: "") == nil)
    }

    @Test func `an empty file is no cover`() {
        #expect(best(["cover.jpg", "folder.jpg"], empty: ["cover.jpg"]) == "folder.jpg")
    }
}
