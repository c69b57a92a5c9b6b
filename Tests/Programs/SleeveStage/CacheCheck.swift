import CoverLibrary
import Foundation
import Logging
import Platform

/// Checks what a cache promises, after something went wrong. It asks the library, as any program does.
package struct CacheCheck {
    /// The digests that each URL may have that must be there.
    var required: [String: Set<String>]
    /// The digests that each URL may have.
    var allowed: [String: Set<String>]
    /// The URLs whose bytes were damaged before: they may have none.
    var damaged: Set<String>
    /// Whether files of covers that no entry names, and marks of writers, are faults. Power loss may take the mark of a writer and
    /// leave its files; a killed process leaves both.
    var findsLitter: Bool
    /// Whether what a command has replaced may stay: a process that is killed cannot know that it was no placeholder.
    var keepsReplaced: Bool
    /// Whether a replaced index, or a row without a file, is a fault. SQLite survives power loss, and files go after their rows.
    var keepsIndex: Bool

    package init(
        required: [String: Set<String>], allowed: [String: Set<String>], damaged: Set<String> = [],
        findsLitter: Bool = false, keepsReplaced: Bool = false, keepsIndex: Bool = false
    ) {
        (self.required, self.allowed, self.damaged) = (required, allowed, damaged)
        (self.findsLitter, self.keepsReplaced, self.keepsIndex) = (findsLitter, keepsReplaced, keepsIndex)
    }

    /// Opens the cache for writing, as a command does, which recovers it, and compares it with what it must hold. In a long run
    /// another opening, of a cache that was closed again, looks at it.
    package func faults(in cache: String) async -> [String] {
        do {
            if isThorough { try await Self.withLibrary(cache, Self.recover) }
            let (unlisted, found) = try await Self.withLibrary(cache) { library in
                try await Self.recover(library)
                return (try await Self.unlistedEntries(of: library), try await Self.digests(of: library))
            }
            let wrong = found.filter { url, digest in
                digest.map { allowed[url]?.contains($0) != true } ?? !damaged.contains(url)
            }
            let lost = required.filter { url, digests in (found[url] ?? nil).map { !digests.contains($0) } ?? true }
            // Reading has dropped the entries without bytes.
            var named = Set(found.values.compactMap(\.self))
            if keepsReplaced { named.formUnion(allowed.values.joined()) }
            let litter = findsLitter ? Self.litter(in: cache, named: named) : []
            return wrong.map { "\($0.key) has \($0.value.map { "the wrong bytes, \($0)" } ?? "no bytes")" }
                + lost.map { "\($0.key) is lost" }
                + litter
                + (keepsIndex && unlisted > 0 ? ["of \(unlisted) entries the row has no bytes"] : [])
                + (keepsIndex && !required.isEmpty ? Self.replacedIndexes(in: cache) : [])
        } catch {
            return ["\(error)"]
        }
    }

    /// The digest of the bytes of each entry; nil if they are damaged or gone. Reading drops such entries from the cache.
    package static func digests(in cache: String) async throws -> [String: String?] {
        try await withLibrary(cache) { try await digests(of: $0) }
    }

    private static func digests(of library: LibraryAPI) async throws -> [String: String?] {
        var listed: [String: String] = [:]
        for try await cover in library.listings() { listed[cover.key] = cover.digest }
        var digests: [String: String?] = [:]
        for (text, digest) in listed {
            // It returns once an entry whose bytes are damaged is dropped.
            let file =
                if let url = URL(string: text) { try await library.cachedFile(for: url) } else { CachedFile?.none }
            let found = try file.map { Digest(of: Array(try $0.read(0..<$0.bytes))).description }
            digests[text] = .some(found == digest ? digest : nil)
        }
        return digests
    }

    /// Writes to the cache, which is what recovers it.
    private static func recover(_ library: LibraryAPI) async throws { _ = try await library.evict(to: .max) }

    /// The number of entries that a listing leaves out, because their covers have no file.
    private static func unlistedEntries(of library: LibraryAPI) async throws -> Int {
        var listed = 0
        for try await _ in library.listings() { listed += 1 }
        return try await library.statistics().entries - listed
    }

    /// What `verify` finds.
    package static func defects(in cache: String) async throws -> [String] {
        try await withLibrary(cache) { try await $0.verify { _, _ in }.defects.map(\.description) }
    }

    /// The files of covers: their names, in order.
    package static func files(in cache: String) -> [String] {
        contents(of: cache + "/covers").flatMap { contents(of: "\(cache)/covers/\($0)") }
    }

    package static func litter(in cache: String, named: Set<String>) -> [String] {
        files(in: cache).filter { !named.contains($0) }.map { "no entry names the file \($0)" }
            + contents(of: cache + "/writing").map { "the mark of a writer has stayed: \($0)" }
    }

    private static func contents(of directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    private static func replacedIndexes(in cache: String) -> [String] {
        contents(of: cache)
            .filter { $0.contains(".bad-") }
            .map { "the index was replaced, and set aside as \($0)" }
    }

    private static func withLibrary<Result>(
        _ cache: String, _ body: (LibraryAPI) async throws -> Result
    ) async throws -> Result {
        var configuration = LibraryConfiguration(cacheDirectory: URL(filePath: cache))
        configuration.logger = Logger(label: "sleeve") { _ in SwiftLogNoOpLogHandler() }
        let library = try await LibraryAPI(configuration: configuration)
        let result = try await library.closingOnError { try await body(library) }
        await library.close()
        return result
    }
}
