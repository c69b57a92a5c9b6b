import Foundation
import SleeveStage
import Testing

/// `Tests/Programs/Hostile`: a server that does what a server can do wrong, and commands that are killed.
@Suite(.timeLimit(.minutes(isThorough ? 120 : 10))) struct HostileRunTests {
    private static let variables = ProcessInfo.processInfo.environment

    /// `SLEEVE_HOSTILE_SEED` gives the answers of an earlier run again, whose failure has printed its seed. `SLEEVE_HOSTILE_SECONDS` is how long
    /// further ones are tried. A run that is not thorough gives the same answers each time.
    @Test func `whatever a server sends, covers have their own bytes, and none is lost that was reported`() async throws
    {
        let folder = repository.appending(path: "Tests/Programs/Hostile").path
        let seconds = Self.variables["SLEEVE_HOSTILE_SECONDS"] ?? (isThorough ? "3600" : "0")
        let seed =
            Self.variables["SLEEVE_HOSTILE_SEED"].map { ["--seed", $0] } ?? (isThorough ? [] : ["--seed", "71"])
        let result = try await python([folder + "/run.py", "--sleeve", sleeveBinary, "--seconds", seconds] + seed)
        #expect(result.status == 0, "\(result)")
    }

    @Test func `a seed determines what the server answers`() async throws {
        let folder = repository.appending(path: "Tests/Programs/Hostile").path
        let result = try await python(["-m", "unittest", "discover", "-s", folder])
        #expect(result.status == 0, "\(result)")
    }

    private func python(_ arguments: [String]) async throws -> RunResult {
        let environment = [
            "HOME": NSTemporaryDirectory(), "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        return try await Child("/usr/bin/env", ["python3"] + arguments, environment: environment).exit()
    }
}
