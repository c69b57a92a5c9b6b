import Foundation
import SleeveStage
import Testing

/// `Tests/Programs/Person`: nights of a person who says and changes things, of fills, and of kills between two writes.
@Suite(.timeLimit(.minutes(isThorough ? 120 : 10))) struct PersonRunTests {
    private static let variables = ProcessInfo.processInfo.environment

    /// `SLEEVE_PERSON_SEED` gives the steps of an earlier run again, whose failure has printed its seed. A thorough run plays ten seeds of a
    /// hundred nights.
    @Test func `what a person said and made stays, and each run is taken back alone`() async throws {
        let seed = Self.variables["SLEEVE_PERSON_SEED"] ?? "302"
        let length = isThorough ? ["--seeds", "10", "--nights", "100"] : ["--nights", "20"]
        let result = try await python(["run.py", "--sleeve", sleeveBinary, "--seed", seed, "--on"] + length)
        #expect(result.status == 0, "\(result)")
    }

    @Test(arguments: try histories()) func `what was a fault once is right`(_ history: String) async throws {
        let result = try await python(["run.py", "--sleeve", sleeveBinary, "--history", history])
        #expect(result.status == 0, "\(result)")
    }

    private static func histories() throws -> [String] {
        let folder = repository.appending(path: "Tests/Programs/Person/histories").path
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { "\(folder)/\($0)" }
    }

    @Test func `each state that people bring folders into, and each command that meets it, is as the article says`()
        async throws
    {
        let result = try await python(["states.py", "--sleeve", sleeveBinary])
        #expect(result.status == 0, "\(result)")
    }

    @Test func `the model of a person sees each kind of fault`() async throws {
        let result = try await python(["test_model.py"])
        #expect(result.status == 0, "\(result)")
    }

    private func python(_ arguments: [String]) async throws -> RunResult {
        let folder = repository.appending(path: "Tests/Programs/Person").path
        let environment = [
            "HOME": NSTemporaryDirectory(), "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        let program = ["python3", "\(folder)/\(arguments[0])"] + arguments.dropFirst()
        return try await Child("/usr/bin/env", program, environment: environment).exit()
    }
}
