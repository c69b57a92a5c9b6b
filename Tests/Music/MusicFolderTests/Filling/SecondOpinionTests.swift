@testable import CoverSources
import CoverSizes
import Platform
import Testing

@testable import MusicFolder

/// What others say of a cover that is certain by its names.
@Suite struct SecondOpinionTests {
    private static let wanted = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1994, trackCount: 10)

    private func cover(_ source: SourceName, year: Int? = 1994, side: Int? = nil) -> SourceCandidate {
        let album = AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: year, trackCount: 10)
        return SourceCandidate(source: source, album: album, pictures: ["https://\(source)/"], largestSide: side)
            .judged(.judge(Self.wanted, album))
    }

    private func opinion(_ others: [(SourceCandidate, UInt64)], tags: UInt64? = nil) -> SecondOpinion {
        var opinion = SecondOpinion(.made(1, noise: 1, pixelCount: 1_000_000))
        opinion.tags = tags.map { .made($0, noise: 1, pixelCount: 7) }
        opinion.others = others.enumerated().map { index, one in
            .init(
                cover: one.0, digest: Digest(of: [UInt8(index)]),
                likeness: .made(one.1, noise: 1, pixelCount: 10_000 + index))
        }
        return opinion
    }

    private func advice(_ own: SourceCandidate, _ opinion: SecondOpinion) -> String {
        var pictures = RepeatedPictures()
        return switch opinion.advice(on: own, Self.wanted, &pictures) {
        case .keep(let note): "keep: \(note?.text ?? "")"
        case .larger(let cover): "larger: \(cover.source)"
        case .replace(let cover, _): "replace: \(cover.source)"
        }
    }

    @Test func `a cover that another source shows stays, or its largest rendition is taken`() {
        let own = cover(.musicbrainz, side: 1_200)
        #expect(advice(own, opinion([(cover(.deezer, side: 1_000), 1)])) == "keep: Deezer shows the same picture")
        #expect(advice(own, opinion([(cover(.itunes, side: 3_000), 1)])) == "larger: itunes")
        #expect(!opinion([(cover(.deezer), 1)]).isOpen(for: own))
    }

    @Test func `one that shows another picture changes nothing, and the next one is asked`() {
        let own = cover(.musicbrainz)
        let different = opinion([(cover(.deezer), 2)])
        #expect(different.isOpen(for: own))
        #expect(advice(own, different) == "keep: Deezer shows another picture")
        #expect(advice(own, opinion([(cover(.deezer), 2), (cover(.itunes), 3)])).hasPrefix("keep"))
    }

    /// Shops have the labels' files: a wrong one is the same at both.
    @Test func `two that do not err alike are believed, two shops are not`() {
        #expect(advice(cover(.itunes), opinion([(cover(.deezer), 2), (cover(.musicbrainz), 2)])) == "replace: deezer")
        #expect(advice(cover(.musicbrainz), opinion([(cover(.deezer), 2), (cover(.itunes), 2)])).hasPrefix("keep"))
        #expect(advice(cover(.musicbrainz), opinion([(cover(.deezer), 2)], tags: 2)) == "replace: deezer")
    }

    @Test func `a cover is replaced only by one that is as certain by its names`() {
        let doubtful = [(cover(.deezer, year: 1993), UInt64(2)), (cover(.musicbrainz, year: 1993), 2)]
        #expect(advice(cover(.itunes), opinion(doubtful)).hasPrefix("keep"))
    }

    @Test func `nobody is asked about a cover that the songs have in their tags`() {
        #expect(!opinion([], tags: 1).isOpen(for: cover(.itunes)))
        #expect(opinion([], tags: 2).isOpen(for: cover(.itunes)) && opinion([]).isOpen(for: cover(.itunes)))
    }
}
