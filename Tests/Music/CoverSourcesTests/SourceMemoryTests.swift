@testable import CoverSources
import Foundation
import SQLite
import Testing

@Suite struct SourceMemoryTests {
    private static let candidate = SourceCandidate(
        source: .itunes,
        album: AlbumQuery(artist: "Ä", title: "B", year: 1994, releaseGroupID: Answers.group),
        pictures: ["https://a.example/1.jpg", "https://a.example/2.jpg"], match: Match(.doubtful, "why", score: 7))

    private static func answer(
        _ source: SourceName = .itunes, _ kind: SourceAnswer.Kind = .found, url: String = "https://a.example/?q=1",
        time: Int64 = 1
    ) -> SourceAnswer {
        SourceAnswer(source, kind, url: url, time: time, detail: "detail")
    }

    @Test func `answers and candidates are there after the memory was closed`() async throws {
        try await withFolder { folder in
            let path = SourceMemory.path(in: folder + "/albums.json.state")
            do {
                let memory = try SourceMemory(path: path) { _ in }
                try await memory.note(Self.answer(.deezer, .notFound, time: 5), of: "k")
                try await memory.note(Self.answer(), [Self.candidate], of: "k")
            }
            let record = try await SourceMemory(path: path) { _ in }.record(of: "k")
            #expect(record.answers.map(\.source) == [.itunes, .deezer])
            #expect(record.current == [Self.candidate])
            #expect(record.answers.allSatisfy { $0.isRemembered })
            let other = try await SourceMemory(path: path) { _ in }.record(of: "other")
            #expect(other.answers.isEmpty)
        }
    }

    @Test func `the last answer to a request replaces the earlier one and what it found`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            try await memory.note(Self.answer(), [Self.candidate], of: "k")
            try await memory.note(Self.answer(.itunes, .throttled, time: 2), of: "k")
            #expect(try await memory.record(of: "k").current.count == 1, "a throttle says nothing")
            try await memory.note(Self.answer(.itunes, .notFound, time: 3), of: "k")
            let record = try await memory.record(of: "k")
            #expect(record.current.isEmpty && record.answers.map(\.time) == [3])
        }
    }

    @Test func `of each source the last answer counts, whatever was requested`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let url = "https://a.example/?q=0"
            try await memory.note(Self.answer(url: url, time: 1), [Self.candidate], of: "k")
            try await memory.note(Self.answer(url: url, time: 1), [Self.candidate], of: "other")
            try await memory.note(Self.answer(.deezer, time: 2), of: "k")
            try await memory.note(Self.answer(.itunes, .notFound, time: 3), of: "k")
            let record = try await memory.record(of: "k")
            #expect(record.lastAnswers.map(\.source) == [.deezer, .itunes])
            #expect(record.lastAnswers.map(\.kind) == [.found, .notFound])
            #expect(record.current.isEmpty)
            #expect(try await memory.doubtfulAlbums() == ["other"])
        }
    }

    @Test func `a damaged memory is moved aside, which is said`() async throws {
        try await withFolder { folder in
            let path = folder + "/m.sqlite3"
            try Data("no database at all, but long enough to be one".utf8).write(to: URL(filePath: path))
            var notices: [String] = []
            let memory = try SourceMemory(path: path) { notices.append($0) }
            try await memory.note(Self.answer(), of: "k")
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
                try database.execute(
                    "CREATE TABLE tries (album); CREATE TABLE decisions (album); PRAGMA user_version = 6")
            }
            var notices: [String] = []
            let memory = try SourceMemory(path: path) { notices.append($0) }
            #expect(notices.count == 1 && notices[0].contains("accepted and refused"))
            #expect(try await memory.doubtfulAlbums().isEmpty)
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
        #expect(Self.answer(.itunes, .notFound, time: 100).counts(at: 200))
        #expect(!Self.answer(.itunes, .notFound, time: 300).counts(at: 200))
        #expect(!Self.answer(.itunes, .failed, time: 100).counts(at: 200))
    }
}
