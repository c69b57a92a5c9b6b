/// Where the covers of a tier lie: a directory (`TierDirectory`), or a bucket.
///
/// Every call is one try: `Tier` tries again. It ends within about 10 s, whatever becomes of the storage, and soon if its task is cancelled.
/// It is called by up to 32 tasks at a time.
package protocol TierStorage: Sendable {
    /// Reads `sleeve-tier`, which holds `Tier.format`, and puts it if it is missing. Called before anything else.
    func check(isReadOnly: Bool) async throws(TierError)

    /// - Returns: the cover, checked by `TierCover.init`; nil if the storage has none.
    /// - Throws: `TierError.damaged` for a cover that is not whole, or is another one. `TierError.refused` counts as none.
    func cover(for key: TierKey) async throws(TierError) -> TierCover?

    /// Returns once the cover would survive the end of this machine. Replaces an older or a damaged one.
    func put(_ cover: TierCover) async throws(TierError)
}
