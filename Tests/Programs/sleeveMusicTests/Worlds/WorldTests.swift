import Foundation
import SleeveStage
import Testing

/// Made worlds of albums with imitated services, of `Tests/Music/Fill`. Whether a cover is right is told from the bytes that were written.
@Suite(.timeLimit(.minutes(5)), .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the worlds are made by Python"))
struct WorldTests {
    /// Other seeds are for `run.py --seed 0`: a change should not fail by what it did not touch.
    @Test func `in a hard world no cover is wrong, and four of five are right or listed first`() async throws {
        // iTunes, with 20 requests a minute, would take the longest.
        try await fill("hard", 1, count: 1, least: 80, ["--embed", "--source", "tags,caa,musicbrainz,deezer"])
    }

    @Test func `in an ordinary world no cover is wrong, and of a hundred 99 are right`() async throws {
        try await fill("ordinary", 1, count: 100, least: 99, [])
    }

    @Test func `in a world of lengths no cover is wrong, and most that a person would write are right`() async throws {
        try await fill("lengths", 1, count: 2, least: 80, ["--source", "tags,caa,musicbrainz,deezer"])
    }

    private func fill(_ world: String, _ seed: Int, count: Int, least: Int, _ options: [String]) async throws {
        let script = repository.appending(path: "Tests/Music/Fill/run.py").path
        let result = try await Child(
            "/usr/bin/python3",
            [
                script, "--sleeve", sleeveBinary, "--world", world, "--seed", "\(seed)", "--count", "\(count)",
                "--least", "\(least)", "--shards", "12",
            ] + options,
            environment: ["PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"]
        ).exit()
        #expect(result.status == 0, "\(result.stdout)\n\(result.stderr)")
    }
}
