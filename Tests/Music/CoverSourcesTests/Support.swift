@testable import CoverSources
import Foundation
import Synchronization

/// A clock that tests move: sleeping adds to it.
final class TestClock: Sendable {
    private struct State {
        var now = Duration.zero
        var sleeps: [Duration] = []
    }
    private let state = Mutex(State())

    /// When the tests take place, in milliseconds since 1970.
    static let start: Int64 = 1_800_000_000_000

    var now: Duration { state.withLock { $0.now } }
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func advance(_ duration: Duration) { state.withLock { $0.now += duration } }

    var source: SourceClock {
        SourceClock(
            now: { self.now },
            timeOfDay: { Self.start + Int64(self.now / .milliseconds(1)) },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock {
                    $0.now += duration
                    $0.sleeps.append(duration)
                }
            })
    }
}

/// A service that gives prepared answers and notes what it is asked, and when.
final class TestService: Sendable {
    typealias Answer = @Sendable (_ url: String, _ number: Int) async throws -> SourceResponse

    private let requests = Mutex<[(url: String, time: Duration)]>([])
    private let concurrent = Mutex((now: 0, peak: 0))
    private let clock: TestClock
    private let answer: Answer

    /// - Parameter details: the answers about one album, by URL; others are 404.
    init(
        _ clock: TestClock, details: @escaping @Sendable (String) -> SourceResponse? = { _ in nil },
        _ answer: @escaping Answer
    ) {
        self.clock = clock
        self.answer = { url, number in
            let isOfOne =
                url.contains("/lookup?") || url.contains("/ws/2/release/") || url.contains("deezer.com/album/")
            return isOfOne
                ? details(url) ?? SourceResponse(status: 404) : try await answer(url, number)
        }
    }

    /// What was searched for.
    var searches: [String] {
        urls.filter { !$0.contains("/lookup?") && !$0.contains("/ws/2/release/") && !$0.contains("deezer.com/album/") }
    }

    var urls: [String] { requests.withLock { $0.map(\.url) } }
    var times: [Duration] { requests.withLock { $0.map(\.time) } }
    /// The highest number of requests at a time.
    var peak: Int { concurrent.withLock { $0.peak } }

    var transport: SourceTransport {
        { url, _ in
            let number = self.requests.withLock { requests in
                requests.append((url, self.clock.now))
                return requests.count
            }
            self.concurrent.withLock { $0 = ($0.now + 1, max($0.peak, $0.now + 1)) }
            defer { self.concurrent.withLock { $0.now -= 1 } }
            // Others get a chance to send at the same time.
            await Task.yield()
            return try await self.answer(url, number)
        }
    }
}

extension SourceResponse {
    static func json(_ text: String, status: Int = 200) -> SourceResponse {
        SourceResponse(status: status, body: Array(text.utf8))
    }
}

/// Answers as the services write them.
enum Answers {
    static func deezer(_ artist: String, _ title: String, tracks: Int) -> String {
        """
        {"data": [{"id": 1, "title": "\(title)", "nb_tracks": \(tracks), "record_type": "album",
            "cover_medium": "https://pictures.example/a/250x250.jpg", "cover_big": "https://pictures.example/a/500x500.jpg",
            "cover_xl": "https://pictures.example/a/1000x1000.jpg", "artist": {"id": 2, "name": "\(artist)"}}], "total": 1}
        """
    }

    static let deezerNothing = #"{"data": [], "total": 0}"#
    static let deezerThrottle = #"{"error": {"type": "Exception", "message": "Quota limit exceeded", "code": 4}}"#

    static func iTunes(_ artist: String, _ title: String, year: Int, tracks: Int) -> String {
        """
        {"resultCount": 2, "results": [{"wrapperType": "artist", "artistName": "\(artist)"}, {"wrapperType": "collection",
            "collectionType": "Album", "artistName": "\(artist)", "collectionId": 7, "collectionName": "\(title)", "trackCount": \(tracks),
            "artworkUrl100": "https://pictures.example/b/100x100bb.jpg", "releaseDate": "\(year)-05-10T07:00:00Z"}]}
        """
    }

    static func deezerAlbum(_ artist: String, _ title: String, year: Int, lengths: [Int]) -> String {
        let songs = lengths.map { #"{"duration": \#($0 / 1_000)}"# }.joined(separator: ", ")
        return """
            {"id": 1, "title": "\(title)", "nb_tracks": \(lengths.count), "release_date": "\(year)-05-10",
                "artist": {"name": "\(artist)"}, "tracks": {"data": [\(songs)]}}
            """
    }

    static func iTunesSongs(_ lengths: [Int]) -> String {
        let songs = lengths.enumerated().map {
            #", {"wrapperType": "track", "kind": "song", "discNumber": 1, "trackNumber": \#($0 + 1), "trackTimeMillis": \#($1)}"#
        }
        return #"{"results": [{"wrapperType": "collection", "collectionId": 7}\#(songs.reversed().joined())]}"#
    }

    static let releaseURL =
        "https://musicbrainz.org/ws/2/release/\(release)?inc=recordings+release-groups+artist-credits+aliases&fmt=json"

    static func musicBrainzRelease(
        _ artist: String, _ title: String, year: Int, first: Int? = nil, lengths: [Int]
    ) -> String {
        let songs = lengths.map { #"{"length": \#($0)}"# }.joined(separator: ", ")
        return """
            {"id": "\(release)", "title": "\(title)", "date": "\(year)-05", "artist-credit": [{"name": "\(artist)",
                "artist": {"aliases": [{"name": "Alias of \(artist)"}]}}],
             "release-group": {"id": "\(group)", "first-release-date": "\(first ?? year)-05-10"},
             "media": [{"position": 1, "track-count": \(lengths.count), "tracks": [\(songs)]}]}
            """
    }

    static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
    static let otherRelease = "86df3287-6cda-33eb-8e9a-044b5e15ffdd"
    static let group = "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"

    static func musicBrainz(_ artist: String, _ title: String, date: String, tracks: Int) -> String {
        """
        {"created": "2026-11-25T00:00:00.000Z", "count": 2, "offset": 0, "releases": [
            {"id": "\(otherRelease)", "score": 100, "title": "\(title)", "track-count": 99, "date": "1900",
                "artist-credit": [{"name": "\(artist)"}], "release-group": {"id": "\(group)"}},
            {"id": "\(release)", "score": 90, "title": "\(title)", "status": "Official", "track-count": \(tracks),
                "date": "\(date)", "artist-credit": [{"name": "\(artist)", "joinphrase": " & "}, {"name": "Friends"}],
                "release-group": {"id": "\(group)", "primary-type": "Album"}}, {"id": 5}]}
        """
    }
}

/// Runs `body` with a new folder, which is removed after it.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.path() + "sleeve-sources-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// What is kept of an album.
func kept(
    _ memory: SourceMemory, _ query: AlbumQuery, _ decisions: Decisions = .init()
) async throws -> SourceMemory.Record {
    try await SourceMemory.record(of: query, decisions, CoverSource.all(), in: memory)
}

extension SourceCandidate {
    /// Judges candidates beside those of other sources.
    static func matching(
        _ query: AlbumQuery, _ candidates: [SourceCandidate], known: [SourceCandidate] = []
    ) -> [SourceCandidate] {
        let comparison = AlbumComparison(query)
        return matching(comparison, candidates, Namesakes(candidates + known, comparison), Decisions())
    }
}
