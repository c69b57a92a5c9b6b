import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Platform

extension CoverPipeline {
    /// The hints about each URL. Unreadable hints are ignored.
    func hints(_ urls: [HTTPURL]) async -> [Hints] {
        await (try? read { [self] reader in try hints(of: urls, reader) }) ?? urls.map { _ in Hints() }
    }

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
    static func closed(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "the library is closed")
    }

    package static func offline(_ url: String) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "not in the cache, and offline")
    }

    /// - Parameter use: `revalidate` or `reload`.
    static func offline(_ url: String, _ use: CacheUse) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "offline: its server cannot be asked (\(use))")
    }

    /// RFC 9111 §5.2.2.2, §5.2.2.4.
    package static func staleOffline(_ url: String) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "offline, and \(Staleness.reason)")
    }

    /// A cached 404 or 410: the URL is not requested again before the hint expires.
    static func absent(_ url: String, _ absence: Absence) -> CoverFailure {
        let until = Date(milliseconds: absence.until).ISO8601Format()
        let status = absence.status
        var failure = CoverFailure(
            .status, url: url, detail: "the server answered \(status) before; remembered until \(until)", status: status
        )
        failure.rememberedUntil = absence.until
        return failure
    }
}

extension Date {
    /// - Parameter milliseconds: since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
