import CoverCache
import CoverFetch
import HTTPCaching
import Platform

extension CoverPipeline {
    /// The ends of the pauses that hosts asked earlier runs for, by origin.
    func earlierPauses() -> [String: ContinuousClock.Instant] {
        let (now, instant) = (WallClock.milliseconds(), ContinuousClock.now)
        let all = (try? reader.hints(.closed, now: now)) ?? []
        return all.reduce(into: [:]) { pauses, hint in
            // A time ahead of now comes from a clock that was wrong: the pause is over.
            guard let recorded = Int64(hint.value), recorded <= now else { return }
            pauses[hint.key] = instant + .milliseconds(hint.until - now)
        }
    }

    /// Keeps the pauses for the next run. A failure is ignored.
    /// - Parameter pauses: as `DownloadScheduler.pauses`.
    func keep(_ pauses: [String: ContinuousClock.Instant?]) async {
        if pauses.isEmpty { return }
        let (now, instant) = (WallClock.milliseconds(), ContinuousClock.now)
        let changes = pauses.map { origin, end -> HintChange in
            guard let end else { return .remove(.closed, key: origin) }
            return .set(Hint(.closed, origin, "\(now)", until: now + Int64((end - instant) / .milliseconds(1))))
        }
        try? await persistency.withWriter { writer in
            writer.add(hints: changes, now: now)
            try writer.writeDeferred()
        }
    }
}

// MARK: - Failures without a request

extension CoverFailure {
    /// No server is asked, and the cache has no cover that may be used without it (RFC 9111 §5.2.1.7, §5.2.2.2).
    static func unasked(_ url: String, isStale: Bool) -> CoverFailure {
        var failure = CoverFailure(
            .offline, url: url, detail: isStale ? "offline, and \(Staleness.reason)" : "not in the cache, and offline")
        failure.endsRequest = true
        return failure
    }

    /// - Parameter use: `revalidate` or `reload`.
    static func offline(_ url: String, _ use: CacheUse) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "offline: its server cannot be asked (\(use))")
    }

    /// A cached 404 or 410: the URL is not requested again before the hint expires.
    static func absent(_ url: String, _ absence: Absence) -> CoverFailure {
        let until = Date(milliseconds: absence.until)
        let status = absence.status
        var failure = CoverFailure(
            .status, url: url,
            detail: "the server answered \(status) before; remembered until \(until.ISO8601Format())",
            status: status)
        (failure.rememberedUntil, failure.isRemembered) = (until, true)
        return failure
    }
}
