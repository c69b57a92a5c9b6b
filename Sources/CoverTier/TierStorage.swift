/// Where the covers of a tier lie: a directory (`TierDirectory`), or a bucket.
///
/// Every call ends within about 10 s, whatever becomes of the storage. It is called by many tasks at once.
package protocol TierStorage: Sendable {
    /// Puts `sleeve-tier`, which holds `Tier.format`, or only reads it. Called before anything is downloaded.
    func check(isReadOnly: Bool) async throws(TierError)

    /// - Returns: the cover, checked by `TierCover.init`; nil if the storage has none.
    /// - Throws: `TierError.damaged` for a cover that is not whole, or is another one.
    func cover(for key: TierKey) async throws(TierError) -> TierCover?

    /// Returns once the cover would survive the end of this machine. Replaces an older or a damaged one.
    func put(_ cover: TierCover) async throws(TierError)
}
