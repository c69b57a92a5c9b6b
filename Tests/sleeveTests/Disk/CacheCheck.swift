import Foundation
import Platform

@testable import CoverCache

/// Checks what a cache promises, after something went wrong.
struct CacheCheck {
    /// The digests that each URL may have that must be there.
    var required: [String: Set<String>]
    /// The digests that each URL may have.
    var allowed: [String: Set<String>]
    /// The URLs whose bytes were damaged before: they may have none.
    var damaged: Set<String> = []

    /// Opens and closes the cache as the command does.
    static func recover(_ cache: String) throws { try CacheWriter.open(cache).close() }

    /// Recovers the cache, and compares it with what it must hold.
    func faults(in cache: String, recover: (String) throws -> Void = Self.recover) -> [String] {
        do {
            // What the first opening frees, the second gives back.
            try recover(cache)
            try recover(cache)
            let found = try Self.digests(in: cache)
            let wrong = found.filter { url, digest in
                digest.map { allowed[url]?.contains($0) != true } ?? !damaged.contains(url)
            }
            let lost = required.filter { url, digests in (found[url] ?? nil).map { !digests.contains($0) } ?? true }
            return wrong.map { "\($0.key) has \($0.value.map { "the wrong bytes, \($0)" } ?? "no bytes")" }
                + lost.map { "\($0.key) is lost" }
        } catch {
            return ["\(error)"]
        }
    }

    /// The digest of the bytes of each entry; nil if they are damaged or gone.
    static func digests(in cache: String) throws -> [String: String?] {
        let reader = try CacheReader(directory: CacheDirectory(creating: cache))
        var digests: [String: String?] = [:]
        try reader.entries { digests[$0.metadata.key] = .some(nil) }
        for key in digests.keys {
            guard case .hit(let entry, let body) = try reader.cover(for: key) else { continue }
            let digest = body.withUnsafeBytes { Digest(of: $0) }
            digests[key] = .some(digest == entry.digest ? digest.description : nil)
        }
        return digests
    }
}
