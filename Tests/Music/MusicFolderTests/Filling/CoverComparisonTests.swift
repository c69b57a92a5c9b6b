@testable import CoverSources
import CoverSizes
import Platform
import Testing

@testable import MusicFolder

/// What pictures prove. The wanted album is of 1994, with ten songs.
@Suite struct CoverComparisonTests {
    private static let wanted = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1994, trackCount: 10)

    /// A doubtful cover of a source, as it is judged for the wanted album.
    private func cover(
        _ source: SourceName, _ title: String = "Low Tide", year: Int? = nil, tracks: Int? = nil,
        side: Int? = nil, wanted: AlbumQuery = wanted
    ) -> SourceCandidate {
        let album = AlbumQuery(artist: "The Harbour Lights", title: title, year: year, trackCount: tracks)
        let candidate = SourceCandidate(
            source: source, album: album, pictures: ["https://\(source)/\(title)"],
            previews: ["https://\(source)/\(title)/250"], largestSide: side)
        return candidate.judged(.judge(wanted, album))
    }

    /// - Parameter covers: Each with the number of its picture.
    private func judged(
        _ covers: [(SourceCandidate, UInt64)], tags: UInt64? = nil, wanted: AlbumQuery = wanted
    ) -> [SourceCandidate] {
        var pictures = RepeatedPictures()
        let shown = covers.enumerated().map { index, one in
            CoverComparison.Shown(
                cover: one.0, digest: Digest(of: Array("\(index)".utf8)),
                likeness: .made(one.1, noise: 1, pixelCount: 10_000 * (index + 1)))
        }
        let comparison = CoverComparison(shown: shown, tags: tags.map { .made($0, noise: 1, pixelCount: 5) })
        return comparison.judged(wanted, among: covers.map(\.0), &pictures)
    }

    @Test func `what two sources know of one picture is pooled, and the largest is taken`() throws {
        let (year, tracks) = (cover(.deezer, "Low Tide (Deluxe)", year: 1994), cover(.itunes, side: 3_000))
        #expect(year.certainty == .doubtful && tracks.certainty == .doubtful)
        let best = try #require(judged([(year, 1), (tracks, 1)]).first)
        #expect(best.certainty == .certain && best.source == .itunes)
        #expect(best.match.reason.contains("Deezer and iTunes show the same picture, iTunes knows the title"))
    }

    @Test func `pictures that differ pool nothing`() {
        let covers = [(cover(.deezer, "Low Tide (Deluxe)", year: 1994), UInt64(1)), (cover(.itunes), 2)]
        #expect(judged(covers).allSatisfy { $0.certainty == .doubtful })
    }

    @Test(arguments: [(1994, 12), (2005, 10)])
    func `what contradicts for one of them contradicts`(_ year: Int, _ tracks: Int) {
        let covers = [(cover(.deezer, year: year, tracks: tracks), UInt64(1)), (cover(.musicbrainz), 1)]
        let judged = judged(covers)
        #expect(judged.allSatisfy { $0.certainty == .doubtful })
        #expect(judged.first?.match.reason.contains("show the same picture") == true)
    }

    /// Another album of the artist may have the name, and two sources the same picture of that.
    @Test func `names alone are not enough, whoever shows the picture`() {
        let poor = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide")
        let covers = [
            (cover(.deezer, year: 1994, wanted: poor), UInt64(1)), (cover(.musicbrainz, tracks: 10, wanted: poor), 1),
        ]
        let judged = judged(covers, wanted: poor)
        #expect(judged.allSatisfy { $0.certainty == .doubtful })
        #expect(judged[0].match.reason.hasPrefix("Deezer and MusicBrainz show the same picture"))
    }

    @Test func `two shops are not believed while the archive shows another picture`() {
        let shops = [(cover(.deezer, "Low Tide (Deluxe)", year: 1994), UInt64(1)), (cover(.itunes), 1)]
        #expect(judged(shops).first?.certainty == .certain)
        #expect(judged(shops + [(cover(.musicbrainz), 2)]).allSatisfy { $0.certainty == .doubtful })
    }

    @Test func `names that other albums have need year and tracks, whatever is shown`() {
        var namesake = Self.wanted
        namesake.hasNamesake = true
        let covers = [(cover(.deezer, wanted: namesake), UInt64(1)), (cover(.musicbrainz, wanted: namesake), 1)]
        #expect(judged(covers, wanted: namesake).allSatisfy { $0.certainty == .doubtful })
        #expect(judged(covers, tags: 1, wanted: namesake).allSatisfy { $0.certainty == .doubtful })
        let known = [
            (cover(.deezer, year: 1994, wanted: namesake), UInt64(1)),
            (cover(.musicbrainz, tracks: 10, wanted: namesake), 1),
        ]
        #expect(judged(known, wanted: namesake).first?.certainty == .certain)
    }

    @Test func `a doubtful cover is that of the album if its songs have the picture in their tags`() throws {
        let covers = [(cover(.itunes, year: 2001), UInt64(1)), (cover(.deezer, year: 2001), 2)]
        let best = try #require(judged(covers, tags: 2).first)
        #expect(best.certainty == .certain && best.source == .deezer)
        #expect(best.match.reason.contains("its picture is the one in the tags"))
        #expect(judged(covers, tags: 3).allSatisfy { $0.certainty == .doubtful })
    }

    /// A sibling's picture may be in the tags.
    @Test func `of titles that are only near, the tags prove nothing while another source shows another picture`() {
        func judged(_ title: String, _ other: SourceName) -> SourceCandidate? {
            let covers = [
                (cover(.itunes, title, year: 2001), UInt64(2)), (cover(other, "Low Tide: Distant", year: 2003), 3),
            ]
            return self.judged(covers, tags: 2).first
        }
        #expect(judged("Low Tide: Distant", .musicbrainz)?.certainty == .doubtful)
        #expect(judged("Low Tide: Distant", .deezer)?.certainty == .certain, "shops err alike")
        #expect(judged("Low Tide", .musicbrainz)?.certainty == .certain)
    }

    @Test func `a picture of unrelated albums proves nothing`() {
        var pictures = RepeatedPictures()
        for artist in ["A", "B", "C"] {
            pictures.add(Digest(of: Array(artist.utf8)), .made(1), of: AlbumQuery(artist: artist, title: "T"))
        }
        let shown = [SourceName.deezer, .musicbrainz].map { source in
            CoverComparison.Shown(
                cover: cover(source, year: source == .deezer ? 1994 : nil),
                digest: Digest(of: Array(source.rawValue.utf8)), likeness: .made(1, noise: 1, pixelCount: 900))
        }
        let comparison = CoverComparison(shown: shown, tags: .made(1))
        let judged = comparison.judged(Self.wanted, among: shown.map(\.cover), &pictures)
        #expect(judged.allSatisfy { $0.match == .repeated })
    }

    @Test func `what a person's no has made doubtful is not proved`() {
        let certain = cover(.itunes, year: 1994)
        #expect(certain.certainty == .certain)
        let refused = certain.doubted("you refused a certain cover of the album")
        #expect(!refused.mayBeProved(for: Self.wanted) && cover(.itunes).mayBeProved(for: Self.wanted))
    }
}
