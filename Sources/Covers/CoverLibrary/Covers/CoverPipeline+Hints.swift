import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Platform

extension CoverPipeline {
    // MARK: Hosts

    /// Protocols and limits of hosts that earlier runs learnt, by origin.
    func learntHosts() -> [String: HostMemory] {
        let now = HostMemory.Moment.now
        let all = (try? reader.hints(.host, now: now.milliseconds)) ?? []
        return all.reduce(into: [:]) { $0[$1.key] = HostMemory($1.value, at: now) }
    }

    /// Keeps what this run learnt. A failure is ignored.
    func rememberHosts(_ hosts: [String: HostMemory]) async {
        let now = HostMemory.Moment.now
        let changes = hosts.compactMap { HintChange(host: $0.key, $0.value, now) }
        if changes.isEmpty { return }
        try? await persistency.withWriter { writer in
            writer.add(hints: changes, now: now.milliseconds)
            try writer.writeDeferred()
        }
    }
}

// MARK: - Failures without a request

extension CoverFailure {
    /// No server is asked, and the cache has no cover that may be used without it (RFC 9111 §5.2.1.7, §5.2.2.2).
    /// - Parameter isOffline: nothing else may ask, either.
    package static func unasked(_ url: String, isStale: Bool, isOffline: Bool) -> CoverFailure {
        let reason = isOffline ? "offline" : "only the cache was asked"
        var failure = CoverFailure(
            isOffline ? .offline : .notCached, url: url,
            detail: isStale ? "\(reason), and \(Staleness.reason)" : "not in the cache, and \(reason)")
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
