@testable import CoverSources
import Foundation
import SQLite
import Testing

@Suite(.timeLimit(.minutes(5))) struct SourceMemoryTests {
    private let clock = TestClock()
    private static let lengths = (0..<10).map { 150_000 + $0 * 11_000 }
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10, lengths: lengths)
    private static let names: [SourceName] = [.musicbrainz, .itunes, .deezer, .discogs]

    /// A service of everything, which has the album in an edition of other lengths.
    private func service(lengths: [Int] = lengths.map { $0 * 2 }) -> TestService {
        TestService(
            clock,
            details: { url in
                .json(
                    url.contains("lookup")
                        ? Answers.iTunesSongs(lengths)
                        : url.contains("deezer")
                            ? Answers.deezerAlbum("A", "B", year: 1994, lengths: lengths)
                            : Answers.musicBrainzRelease("A", "B", year: 1994, lengths: lengths))
            }
        ) { url, _ in
            if url.contains("/masters/") {
                let songs = lengths.map { #"{"duration": "\#($0 / 60_000):\#($0 / 1_000 % 60)"}"# }
                return .json(
                    #"{"title": "B", "year": 1994, "artists": [{"name": "A"}], "tracklist": [\#(songs.joined(separator: ", "))]}"#
                )
            }
            if url.contains("discogs") {
                return .json(
                    #"{"results": [{"id": 5, "type": "master", "title": "A (2) - B", "year": "1994", "cover_image": "https://i.example/5"}]}"#
                )
            }
            return .json(
                url.contains("deezer")
                    ? Answers.deezer("A", "B", tracks: 10)
                    : url.contains("itunes")
                        ? Answers.iTunes("A", "B", year: 1994, tracks: 10)
                        : Answers.musicBrainz("A", "B", date: "1994", tracks: 10))
        }
    }

    private func queue(_ memory: SourceMemory, _ service: TestService, at base: String? = nil) -> SourceQueue {
        let bases =
            base.map { base in Dictionary(uniqueKeysWithValues: Self.names.map { ($0, "\(base)/\($0)") }) } ?? [:]
        return SourceQueue(
            sources: CoverSource.table(Self.names, bases: bases, keys: [.discogs: "hush-1"]),
            userAgent: SourceQueueTests.contact, memory: memory, clock: clock.source, transport: service.transport)
    }

    @Test func `what is kept of answers says what they said, after the memory was closed and past their lifetimes`()
        async throws
    {
        try await withFolder { folder in
            let path = SourceMemory.path(in: folder + "/albums.json.state")
            let service = service()
            let found = try await queue(SourceMemory(path: path) { _ in }, service).find(Self.album)
            #expect(found.answers.map(\.source) == Self.names && found.certain == nil)
            #expect(Set(found.candidates.map(\.source)) == Set(Self.names))
            clock.advance(.seconds(400 * 86_400))
            let memory = try SourceMemory(path: path) { _ in }
            let record = try await kept(memory, Self.album)
            #expect(Set(record.covers) == Set(found.candidates))
            #expect(record.answers.map(\.source) == Self.names)
            #expect(record.answers.map(\.detail) == found.answers.map(\.detail))
            let other = try await kept(memory, AlbumQuery(artist: "C", title: "D"))
            #expect(other.answers.isEmpty && other.covers.isEmpty)
        }
    }

    @Test func `answers are judged by what is known of the album today`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = service()
            _ = try await queue(memory, service).find(Self.album)
            var album = Self.album
            album.lengths = Self.lengths.map { $0 * 2 }
            #expect(try await kept(memory, album).covers.contains { $0.certainty == .certain })
            (album.year, album.lengths) = (1969, [])
            let record = try await kept(memory, album)
            #expect(!record.covers.isEmpty && record.covers.allSatisfy { $0.certainty == .doubtful })
            #expect(record.covers.first?.match.reason.contains("1994 where yours is of 1969") == true)
        }
    }

    @Test func `an answer spares the request of another album, and at another address of the service`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = service()
            _ = try await queue(memory, service).find(Self.album)
            let (count, other) = (service.urls.count, AlbumQuery(artist: "A", title: "B", year: 2001, trackCount: 3))
            _ = try await queue(memory, service, at: "http://ann:hush-2@mirror.example").find(other)
            #expect(service.urls.count == count)
        }
    }

    @Test func `no key and no password is in the memory`() async throws {
        try await withFolder { folder in
            let service = service()
            do {
                let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
                _ = try await queue(memory, service, at: "http://ann:hush-2@mirror.example").find(Self.album)
                #expect(try await kept(memory, Self.album).answers.count == Self.names.count)
            }
            #expect(service.urls.contains { $0.contains("hush-2") })
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let text = String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\(name)")), as: UTF8.self)
                #expect(!text.contains("hush") && !text.contains("ann"), "\(name)")
            }
        }
    }

    @Test func `a picture that is none is rejected until it is one`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let queue = queue(memory, service(lengths: Self.lengths))
            let cover = try #require(try await queue.find(Self.album).certain)
            for fault in [Match.absent, .rejected("the picture has one colour"), .repeated, nil] {
                await queue.note(fault, of: cover)
                let match = try await kept(memory, Self.album).covers.first { $0.identity == cover.identity }?.match
                #expect(match == fault ?? cover.match)
            }
        }
    }

    @Test func `a damaged memory is moved aside, which is said`() async throws {
        try await withFolder { folder in
            let path = folder + "/m.sqlite3"
            try Data("no database at all, but long enough to be one".utf8).write(to: URL(filePath: path))
            var notices: [String] = []
            let memory = try SourceMemory(path: path) { notices.append($0) }
            #expect(try await kept(memory, Self.album).answers.isEmpty)
            #expect(notices.count == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.contains { $0.hasPrefix("damaged-sources-") })
        }
    }

    @Test func `a memory of an earlier version is dropped, which is said`() async throws {
        try await withFolder { folder in
            let path = folder + "/m.sqlite3"
            do {
                let database = try Connection(path)
                try database.execute("CREATE TABLE tries (album); PRAGMA user_version = 7")
            }
            var notices: [String] = []
            let memory = try SourceMemory(path: path) { notices.append($0) }
            #expect(notices.count == 1 && notices[0].contains("dropped"))
            #expect(try await kept(memory, Self.album).answers.isEmpty)
        }
    }

    @Test func `a memory of a newer version is left as it is`() async throws {
        try await withFolder { folder in
            let path = folder + "/m.sqlite3"
            do {
                let database = try Connection(path)
                try database.execute("PRAGMA user_version = 99")
            }
            #expect(throws: SourceMemoryError.newerVersion(path: path)) { try SourceMemory(path: path) { _ in } }
        }
    }

    @Test func `an answer of a clock that was ahead does not count`() {
        func answer(_ kind: SourceAnswer.Kind, _ time: Int64) -> SourceAnswer {
            SourceAnswer(.itunes, kind, url: "", time: time, detail: "")
        }
        #expect(answer(.notFound, 100).counts(at: 200))
        #expect(!answer(.notFound, 300).counts(at: 200))
        #expect(!answer(.failed, 100).counts(at: 200))
    }
}
