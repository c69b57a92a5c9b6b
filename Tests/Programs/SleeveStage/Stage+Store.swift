import Foundation
import OriginServer
import Platform
import Testing

/// The cache's files, as `DESIGN.md` says where they are. A store's tests look at nothing else of it.
extension Stage {
    /// The files of the index.
    package static let indexFiles = ["index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm"]

    /// The file of a cover in a cache.
    package func coverFile(_ digest: String, in cache: String? = nil) -> String {
        "\(cache ?? self.cache)/covers/\(digest.prefix(2))/\(digest)"
    }

    /// Files that no entry names, and marks of writers.
    package func litter() async throws -> [String] {
        CacheCheck.litter(in: cache, named: Set(try await entries().map(\.digest)))
    }

    /// The disk space of all files of the cache, in bytes, as `du` counts it.
    package func diskBytes() throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: cache).reduce(0) {
            $0 + AllocatedSpace.bytes(of: "\(cache)/\($1)")
        }
    }

    /// The disk space of the covers' files, in bytes.
    package func coverBytes() -> Int { coverFiles().reduce(0) { $0 + AllocatedSpace.bytes(of: $1) } }

    /// Reads each listed cover by the command: those that are not what the origin serves, or not readable.
    /// - Parameter covers: What each URL must have.
    package func unreadable(_ covers: [String: [UInt8]]) async throws -> [String] {
        var problems: [String] = []
        for (url, bytes) in covers {
            let result = try await run("get", "--offline", url)
            if result.status != 0 || result.output != bytes { problems.append("\(url): \(result.stderr)") }
        }
        return problems
    }
}

/// A cover of 4 KB, as the URLs of `Stage.urls` have it.
package func cover(_ number: Int, aboutBytes size: Int = 4_000) -> [UInt8] {
    CoverImage.jpeg(number: number, aboutBytes: size)
}

/// The SHA-256 of bytes, in hexadecimal digits.
package func digest(_ bytes: [UInt8]) -> String { Digest(of: bytes).description }
