import CoverLibrary
import Testing

@testable import CoverGallery

@Suite struct CoverSourceTests {
    static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    @Test(arguments: [
        id, " \(id)\n", id.uppercased(), "release/\(id)", "https://musicbrainz.org/release/\(id)",
        "http://www.musicbrainz.org/release/\(id)/cover-art", "musicbrainz.org/release/\(id)?tport=8000#x",
        "https://beta.musicbrainz.org/release/\(id)/", "https://coverartarchive.org/release/\(id)",
        "HTTPS://MusicBrainz.org/release/\(id)",
    ])
    func `a release is read from its id and from its addresses`(text: String) {
        guard case .release(let id) = CoverSource(text) else { return #expect(Bool(false), "\(text)") }
        #expect(id.lowercased() == Self.id)
    }

    @Test(arguments: [
        "release-group/\(id)", "https://musicbrainz.org/release-group/\(id)", "musicbrainz.org/release-group/\(id)",
        "https://coverartarchive.org/release-group/\(id)/",
    ])
    func `a release group is read from its addresses`(text: String) {
        #expect(CoverSource(text) == .releaseGroup(Self.id))
    }

    @Test(arguments: [
        "https://a.example/\(id)", "https://a.example/release/\(id)", "https://musicbrainz.org/artist/\(id)",
        "https://coverartarchive.org/release/\(id)/front-500", "https://musicbrainz.org.evil.example/release/\(id)",
        "ftp://musicbrainz.org/release/\(id)", "https://musicbrainz.org/release/1", "musicbrainz.org", "/", "release",
        "https://covers.invalid/00ff",
    ])
    func `every other text is an address`(text: String) {
        #expect(CoverSource(text) == .address(text))
    }

    @Test func `the text of an album's source is read as the same source`() {
        var album = Album(title: "A")
        #expect(CoverSource(of: album) == .none && CoverSource("  ") == .none)
        for source in [CoverSource.address("https://a.example/1"), .release(Self.id), .releaseGroup(Self.id)] {
            source.replace(in: &album)
            #expect(CoverSource(of: album) == source)
            #expect(CoverSource(source.text) == source)
        }
    }

    @Test func `a new address keeps the ids, which are tried after it, and removing it leaves them`() {
        var album = Album(title: "A")
        CoverSource.release(Self.id).replace(in: &album)
        CoverSource.address("https://a.example/1").replace(in: &album)
        #expect(album.musicBrainzReleaseID == Self.id && album.coverURL == "https://a.example/1")
        CoverSource.none.replace(in: &album)
        #expect(CoverSource(of: album) == .release(Self.id))
        CoverSource.none.replace(in: &album)
        #expect(CoverSource(of: album) == .none)
    }
}
