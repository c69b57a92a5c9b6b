import CoverFetch

/// The covers of one call of `LibraryAPI.fetch`.
final class CoverWall: OutcomeSink {
    let end: @Sendable (_ key: String, Result<String, CoverFailure>) -> Void

    /// - Parameter end: called once for each cover, with its first URL and its digest.
    init(_ end: @escaping @Sendable (String, Result<String, CoverFailure>) -> Void) { self.end = end }

    let isWanted = true

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        end(ask.name, outcome.failure.map { .failure($0) } ?? .success(outcome.digest ?? ""))
    }
}

extension CoverPipeline {
    /// Asks for the covers of a wall that are not cached, ahead of all others.
    /// - Parameters: as of `LibraryAPI.fetch`.
    func fetch(
        _ covers: [(urls: [String], isUrgent: Bool)], order: [String], withdrawing withdrawn: [String],
        for wall: CoverWall
    ) async {
        var asks: [Ask] = []
        for (urls, isUrgent) in covers {
            do throws(CoverFailure) {
                let ask = try ask(at: urls, for: wall)
                ask.priority = .immediate
                if isUrgent { (ask.cacheUse, ask.ignoresOutage) = (.ignoreAbsence, true) }
                asks.append(ask)
            } catch {
                wall.end(urls[0], .failure(error))
            }
        }
        let missing = await self.missing(among: await fetchFromTier(asks))
        do throws(LibraryError) {
            try await scheduler().submit(missing, order: order, withdrawing: withdrawn) { $0.sink is CoverWall }
        } catch {
            for ask in missing { ask.fail(error, isClosed: isClosed) }
        }
    }
}
