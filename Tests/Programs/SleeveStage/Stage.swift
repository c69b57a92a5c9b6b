import Foundation
package import OriginServer
import Testing

/// Whether the tests of files try everything, which takes about an hour, or a part of it.
package let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil

/// A test's own origin, cache and folder, which are removed after it.
package struct Stage: Sendable {
    package let origin: Origin
    package let folder: String
    package var cache: String { folder + "/cache" }

    /// The environment of every process. It keeps them inside the folder.
    package var environment: [String: String] {
        [
            "HOME": folder, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "SLEEVE_CACHE": cache,
            "SLEEVE_LIBRARY": folder + "/albums.json", "SLEEVE": sleeveBinary,
        ]
    }

    package func run(_ arguments: String..., stdin: Child.Input = .nothing) async throws -> RunResult {
        try await SleeveStage.run(arguments, stdin: stdin, environment: environment)
    }

    package func start(_ arguments: String..., stdin: Child.Input = .nothing) throws -> Child {
        try Child(sleeveBinary, arguments, stdin: stdin, environment: environment)
    }

    /// Runs the command as a user who may not write anywhere; the stage is that user's from now on.
    package func runAsUser(_ arguments: [String]) async throws -> RunResult {
        let script = """
            [ "$(id -u)" = 0 ] || exec "$SLEEVE" "$@"
            chmod 755 "$HOME" && chown -R 54321:54321 "$HOME" &&
            exec setpriv --reuid 54321 --regid 54321 --clear-groups "$SLEEVE" "$@"
            """
        return try await Child("/bin/sh", ["-c", script, "sh"] + arguments, environment: environment).exit()
    }

    /// Starts `sleeve-lab`.
    package func startLab(_ arguments: [String]) throws -> Child {
        try Child(labBinary, arguments, environment: environment)
    }

    /// Runs a script; `$SLEEVE` is the command, `$1`… are the arguments.
    package func shell(_ script: String, _ arguments: String...) async throws -> RunResult {
        try await Child("/bin/sh", ["-c", script, "sh"] + arguments, environment: environment).exit()
    }

    /// Writes a file into the folder. - Returns: Its path.
    package func file(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Writes a list of URLs, one per line.
    package func list(_ urls: [String], name: String = "list.txt") throws -> String {
        try file(name, urls.map { $0 + "\n" }.joined())
    }

    /// URLs of generated covers, 4 KB each unless the query sets another size.
    package func urls(_ numbers: Range<Int>, _ query: String = "size=4000") -> [String] {
        numbers.map { "\(origin.coverURL($0))?\(query)" }
    }

    /// Prefetches covers, and expects success.
    package func fill(_ urls: [String], _ options: String...) async throws {
        let list = try list(urls, name: "fill.txt")
        let result = try await SleeveStage.run(["prefetch", list, "--quiet"] + options, environment: environment)
        try #require(result.status == 0, "\(result)")
    }

    /// The lines of `sleeve cache list --json`.
    package func entries() async throws -> [ListLine] {
        let result = try await run("cache", "list", "--json")
        try #require(result.status == 0, "\(result)")
        return try result.lines()
    }

    package func stats() async throws -> StatsLine {
        let result = try await run("cache", "stats", "--json")
        try #require(result.status == 0, "\(result)")
        return try result.json()
    }

    /// The paths of the covers' files.
    package func coverFiles() -> [String] { CacheCheck.files(in: cache).map { coverFile($0) } }

    /// The albums of a library file.
    package func albums(of path: String) throws -> [AlbumLine] {
        try JSONDecoder().decode([AlbumLine].self, from: Data(contentsOf: URL(filePath: path)))
    }

    package func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }
}

/// Runs `body` with a new stage.
package func withStage<Result>(
    _ options: OriginOptions = OriginOptions(), _ body: (Stage) async throws -> Result
) async throws -> Result {
    var options = options
    options.countPaths = true
    let folder = FileManager.default.temporaryDirectory.path() + "sleeve-command-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let origin = try await Origin.start(options)
    do {
        let result = try await body(Stage(origin: origin, folder: folder))
        await origin.stop()
        return result
    } catch {
        await origin.stop()
        throw error
    }
}

/// Whether this process is the superuser's, and another user can run the command.
package let mayBeOther: Bool = {
    guard geteuid() == 0 else { return false }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
        "setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", sleeveBinary, "--version",
    ]
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}()

/// Whether a process can mount file systems in its own user namespace.
package let mayMount: Bool = {
    #if os(Linux)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "unshare -Urm mount -t tmpfs -o size=8m tmpfs /tmp"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    #else
        return false
    #endif
}()

// MARK: What the command writes

/// The JSON summary of a prefetch. Decoding fails when a field of the contract is missing.
package struct Summary: Decodable {
    package var requested, downloaded, deduplicated, revalidated, fresh, joined, skipped, failed, bytes,
        peakMemoryBytes: Int
    package var seconds, coversPerSecond, bytesPerSecond: Double
    package var cancelled: Bool?
    package var remaining: Int?
    package var stopReason: String?

    package var settled: Int { downloaded + revalidated + fresh + joined + skipped + failed }
}

/// A line of the report.
package struct ReportLine: Decodable {
    package var url: String
    package var line: Int?
    package var outcome: String
    package var digest: String?
    package var bytes: Int
    package var milliseconds: Double
    package var error: String?
}

/// A line of `list --json`.
package struct ListLine: Decodable {
    package var url: String
    package var digest: String
    package var bytes: Int
    package var type: String
    package var width: Int?
    package var height: Int?
    package var storedAt: String
    package var validatedAt: String
    package var freshUntil: String?
    package var pinned: Bool
}

/// An album of `album list --json` or of a library file. Names and types are the contract's, not those of `Album`.
package struct AlbumLine: Decodable {
    package var id, title, artist, year: String
    package var coverUrl, musicBrainzReleaseId, musicBrainzReleaseGroupId: String?
    package var coverUrls: [String]?
}

package struct StatsLine: Decodable {
    package var entries, covers, liveBytes, chargedBytes, diskBytes, capacityBytes, hits, misses, deduplicatedBytes: Int
    package var pinned, pinnedBytes: Int
    package var oldest: String?
    package var newest: String?
}

extension RunResult {
    /// Stdout as one JSON object on one line.
    package func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        let lines = stdout.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count == 2 && lines[1].isEmpty, "expected one line of JSON:\n\(self)")
        return try JSONDecoder().decode(Value.self, from: Data(lines[0].utf8))
    }

    package func summary() throws -> Summary { try json() }

    /// Stdout as JSON lines.
    package func lines<Value: Decodable>(_ type: Value.Type = Value.self) throws -> [Value] { try jsonLines(stdout) }
}

/// Every complete line of `text`, decoded. Text after the last line feed is ignored.
package func jsonLines<Value: Decodable>(_ text: String) throws -> [Value] {
    let decoder = JSONDecoder()
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
        try decoder.decode(Value.self, from: Data($0.utf8))
    }
}

/// The names of the members of each JSON line.
package func memberNames(_ text: String) throws -> [Set<String>] {
    try text.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return Set(try #require(object).keys)
    }
}
