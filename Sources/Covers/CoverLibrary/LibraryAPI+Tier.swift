import CoverCache
import CoverFetch
public import CoverTier

/// The tier: covers that several caches share (`LibraryConfiguration.tier`).
extension LibraryAPI {
    /// Checks that the tier can be used, and makes a directory a tier. Without a tier, and offline, it does nothing. The first use of the
    /// tier does the same, and works without it if that fails.
    /// - Throws: `LibraryError` if it cannot be read, or not be written although it may be.
    public func checkTier() async throws(LibraryError) {
        do throws(TierError) {
            try await covers.tier?.check()
        } catch {
            throw .unusableTier("the tier \(configuration.tier ?? "") cannot be used: \(error)")
        }
    }

    /// What was read from the tier and put there since the library was opened; nil without a tier.
    public var tierStatistics: TierStatistics? { covers.tier?.statistics }

    /// Puts cached covers into the tier that it lacks, has damaged, or has older. For a cache that is older than its tier, and after the
    /// tier was away. Cancelling the task ends it early.
    /// - Throws: `LibraryError` if there is no tier that may be written, or the cache cannot be read.
    @discardableResult
    public func push(_ selection: CoverSelection = .all) async throws(LibraryError) -> PushSummary {
        try await push(selection) { _ in }
    }

    package func push(
        _ selection: CoverSelection, progress: @Sendable (PushSummary) -> Void
    ) async throws(LibraryError) -> PushSummary {
        guard let uploads = covers.uploads else { throw .unusableTier("there is no tier that may be written") }
        var (selected, summary) = (try covers.entries(of: selection), PushSummary())
        do {
            while !Task.isCancelled, let batch = try await covers.next(&selected) {
                for use in await uploads.push(batch.entries.map(\.metadata.key)) {
                    switch use {
                    case .stored: summary.put += 1
                    case .hit: summary.kept += 1
                    case .unsuitable: summary.unsuitable += 1
                    case .failed: summary.failed += 1
                    }
                }
                progress(summary)
            }
        } catch {
            throw LibraryError(error)
        }
        return summary
    }
}
