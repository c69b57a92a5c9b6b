/// How covers are exported.
package struct ExportOptions: Sendable, Hashable {
    package var pattern: ExportPattern
    /// Write covers whose longest side has at most this many pixels, as baseline JPEG; nil for covers as they are.
    package var longestSide: Int?
    /// Remove files that exports of this library wrote and that belong to no album's cover any more.
    package var prunes = false
    /// Report what would be done, and do nothing.
    package var isDryRun = false

    package init(_ pattern: ExportPattern) { self.pattern = pattern }
}

/// The result of `LibraryAPI.export`.
package struct ExportSummary: Sendable, Hashable {
    /// Albums of the library.
    package var albums = 0
    /// Files that were written, new or in place of an older version that an export had written.
    package var written = 0
    /// Files that have their cover already.
    package var unchanged = 0
    /// Files that no export of this library wrote, or that were changed since. They stay as they are.
    package var kept = 0
    /// Albums whose cover is not cached.
    package var missing = 0
    /// Covers that could not be written, or are no pictures of the type that the pattern names.
    package var failed = 0
    /// Files of albums or names that are gone. They were removed if the options say so, and stay otherwise.
    package var outdated = 0
    /// Length of the written files.
    package var bytes = 0
    /// Why the run ended before all covers were written.
    package var stopReason: String?
    package var isCancelled = false

    package init() {}
}

/// What an export does with one file.
package enum ExportEvent: Sendable, Hashable {
    case written(path: String, isNew: Bool)
    case kept(path: String, reason: String)
    case failed(path: String, reason: String)
    case removed(path: String)
}
