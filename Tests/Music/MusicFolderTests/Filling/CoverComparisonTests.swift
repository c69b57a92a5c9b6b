@testable import CoverSources
import CoverSizes
import Platform
import Testing

@testable import MusicFolder

/// What the picture in the tags proves. The wanted album is of 1994, with ten songs.
@Suite struct CoverComparisonTests {
    private static let wanted = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1994, trackCount: 10)

    /// A doubtful cover of a source, as it is judged for the wanted album.
    private func cover(
        _ source: SourceName, year: Int? = nil, wanted: AlbumQuery = wanted
    ) -> SourceCandidate {
        let album = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: year)
        return SourceCandidate(source: source, album: album, pictures: ["https://\(source)/"])
            .judged(.judge(wanted, album))
    }

    /// - Parameter covers: Each with the number of its picture.
    private func judged(
        _ covers: [(SourceCandidate, UInt64)], tags: UInt64, wanted: AlbumQuery = wanted
    ) -> [SourceCandidate] {
        var pictures = RepeatedPictures()
        let shown = covers.enumerated().map { index, one in
            CoverComparison.Shown(
                cover: one.0, digest: Digest(of: Array("\(index)".utf8)),
                likeness: .made(one.1, noise: 1, pixelCount: 10_000 * (index + 1)))
        }
        let comparison = CoverComparison(shown: shown, tags: .made(tags, noise: 1, pixelCount: 5))
        return comparison.judged(wanted, among: covers.map(\.0), &pictures)
    }

    @Test func `of albums of one name the tags prove nothing`() {
        var namesake = Self.wanted
        namesake.hasNamesake = true
        #expect(judged([(cover(.deezer, wanted: namesake), 1)], tags: 1, wanted: namesake).isEmpty)
        // Two years apart, and of one source: the service has two albums of the name.
        let covers = [(cover(.deezer, year: 2001), UInt64(1)), (cover(.deezer, year: 2005), 2)]
        #expect(covers.allSatisfy { $0.0.certainty == .doubtful } && judged(covers, tags: 1).isEmpty)
    }

    @Test func `a doubtful cover is that of the album if its songs have the picture in their tags`() throws {
        let covers = [(cover(.itunes, year: 2001), UInt64(1)), (cover(.deezer, year: 2001), 2)]
        let best = try #require(judged(covers, tags: 2).first)
        #expect(best.certainty == .certain && best.source == .deezer)
        #expect(best.match.reason.contains("its picture is the one in the tags"))
        #expect(judged(covers, tags: 3).isEmpty)
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
        #expect(judged.map(\.match) == [.repeated, .repeated])
    }

    @Test func `what a person's no has made doubtful is not proved`() {
        let certain = cover(.itunes, year: 1994)
        #expect(certain.certainty == .certain)
        let refused = certain.doubted("you refused a certain cover of the album")
        #expect(!refused.mayBeProved(for: Self.wanted) && cover(.itunes).mayBeProved(for: Self.wanted))
    }
}
