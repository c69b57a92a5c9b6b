import Files
import Platform
import Testing

@testable import MusicFolder

@Suite struct CoverChoiceTests {
    private func best(_ names: [String], album: String = "", sleeves: Set<String> = []) -> String? {
        let choice = CoverChoice([album]) { sleeves.contains(String(decoding: $0.name, as: UTF8.self)) }
        let pictures = names.map { CoverFile(path: BytePath("/m/\($0)")) }
        return choice.cover(among: pictures).map { String(decoding: $0.path.name, as: UTF8.self) }
    }

    /// Each comes before the next.
    private static let order = [
        "cover.jpg", "Cover.JPEG", "cover.png", "COVER.webp", "cover.avif", "cover.jxl", "cover.gif", "cover.1.jpg",
        "cover (2).png", "folder.jpg",
        "Folder.png", "front.jpg", "album.jpg", "AlbumArt.jpg", "Low Tide.jpg",
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
        "cover2020.jpg", "AlbumArtSmall.jpg",
    ])
    func `any other picture is none`(name: String) { #expect(best([name], album: "Low Tide") == nil) }

    @Test func `the album's title is compared as text, not as bytes`() {
        #expect(best(["Grosse Fahrt e\u{301}.JPG"], album: "GROSSE FAHRT \u{E9}") != nil)
        #expect(best(["AC_DC.jpg"], album: "AC/DC") == "AC_DC.jpg")
        #expect(best([".jpg"], album: "") == nil)
    }

    @Test func `a person's cover comes before Sleeve's, whatever the names`() {
        let names = ["cover.jpg", "folder.png", "Low Tide.gif"]
        #expect(best(names, album: "Low Tide", sleeves: ["cover.jpg"]) == "folder.png")
        #expect(best(names, album: "Low Tide", sleeves: ["cover.jpg", "folder.png"]) == "Low Tide.gif")
        #expect(best(names, album: "Low Tide", sleeves: Set(names)) == "cover.jpg")
    }

    @Test func `of a folder as it is now files and links count, and neither empty files nor folders`() throws {
        let folder = try Folder()
        let open = try OpenFolder(path: folder.path.bytes)
        func found() throws -> String? {
            try CoverChoice(["Low Tide"]).cover(in: open, at: folder.path)?.path.description
        }
        try folder.file("cover.jpg", bytes: [])
        #expect(mkdir(folder.text + "/folder.jpg", 0o700) == 0)
        #expect(try found() == nil)
        #expect(symlink("/nowhere", folder.text + "/Low Tide.jpg") == 0)
        #expect(try found() == folder.text + "/Low Tide.jpg")
        try folder.file("front.jpg", bytes: [1])
        #expect(try found() == folder.text + "/front.jpg")
    }
}
