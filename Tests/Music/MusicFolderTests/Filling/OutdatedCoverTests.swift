import AlbumLibrary
import CoverSources
import Platform
import Testing

@testable import MusicFolder

/// Covers of fills whose albums have other tags by now.
@Suite struct OutdatedCoverTests {
    private static let album = Album(id: "1", title: "Low Tide", artist: "The Harbour Lights", year: "1971")
    private static let judged = query("Low Tide")
    private static let picture = PictureName(.itunes, judged, urls: ["https://a.example/1"])

    private static func query(_ title: String, year: Int = 1971, artist: String = "The Harbour Lights") -> AlbumQuery {
        AlbumQuery(artist: artist, title: title, year: year, trackCount: 9)
    }

    private static func file(_ facts: AlbumQuery?) -> Written {
        var file = Written(
            folder: BytePath("/m"), name: Array("cover.jpg".utf8), digest: Digest(of: [1]), album: "1", run: 1)
        file.facts = facts
        return file
    }

    private func judge(
        _ file: Written = file(judged), for query: AlbumQuery, _ decisions: Decisions = .init()
    ) async throws -> OutdatedCover? {
        var covers = OutdatedCovers([Self.album], ["1": decisions], CoverSource.all(), nil) { _ in Self.picture }
        return try await covers.judge(file, for: query)
    }

    @Test func `a cover counts for the facts that it was judged for, and one of the tags for any`() async throws {
        #expect(try await judge(for: Self.judged) == nil)
        #expect(try await judge(Self.file(nil), for: Self.query("Ash Roads")) == nil)
    }

    @Test func `where the names are another album's, it is another album's cover`() async throws {
        let other = Self.query("Ash Roads", artist: "Ida Quill")
        #expect(try await judge(for: other) == OutdatedCover(source: .itunes, isOther: true, cause: .tags))
        let accepted = Decisions([Decision(.accepted, Self.picture, of: "1")])
        #expect(try await judge(for: other, accepted) == nil)
    }

    @Test func `what a person has refused, or accepts no longer, is no cover, whatever it was judged for`() async throws
    {
        for verdict in [Decision.Verdict.refused, .allowed] {
            let said = Decisions([Decision(verdict, Self.picture, of: "1")])
            let cause: OutdatedCover.Cause = verdict == .refused ? .refused : .unaccepted
            #expect(
                try await judge(for: Self.judged, said) == OutdatedCover(source: .itunes, isOther: true, cause: cause))
        }
    }

    @Test func `where nothing kept tells, nothing changes until its source was asked`() async throws {
        #expect(
            try await judge(for: Self.query("Low Tides"))
                == OutdatedCover(source: .itunes, isOther: false, cause: .tags))
    }

    @Test func `each fact by which covers are judged counts, and copies of the songs in another format do not`() {
        var facts = [Self.judged, Self.query("Low Tides"), Self.query("Low Tide", year: 1972)]
        facts.append(AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1971, trackCounts: [9, 18]))
        facts.append(
            AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1971, trackCount: 9, lengths: [1]))
        for (index, one) in facts.enumerated() {
            #expect(facts.indices.filter { facts[$0].hasFacts(of: one) } == [index])
        }
        func album(_ lengths: [Int], isNamesake: Bool) -> AlbumQuery {
            AlbumQuery(
                artist: "The Harbour Lights", title: "Low Tide", trackCounts: [9, 18], lengths: lengths,
                hasNamesake: isNamesake)
        }
        let flac = album([200_000, 0], isNamesake: false)
        #expect(flac.hasFacts(of: album([200_052, 0], isNamesake: true)))
        #expect(!flac.hasFacts(of: album([203_000, 0], isNamesake: false)))
        #expect(!flac.hasFacts(of: album([200_000, 200_000], isNamesake: false)))
        #expect(!flac.hasFacts(of: album([200_000], isNamesake: false)))
    }
}
