import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Platform

/// What the cache remembers about a URL without a cover.
struct Hints: Sendable {
    /// The server answered 404 or 410.
    var absence: Hint?
    /// Its permanent redirect.
    var redirect: HTTPURL?
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    var negativeTimeToLive: Int64?
}

extension FetchRequest {
    mutating func apply(_ hints: Hints) {
        redirect = hints.redirect
        negativeTimeToLive = hints.negativeTimeToLive
    }
}

extension CoverPipeline {
    /// The hints about each URL. Unreadable hints are ignored.
    func hints(_ urls: [HTTPURL]) async -> [Hints] {
        let now = WallClock.milliseconds()
        let keys = urls.map(\.string)
        let policy = RedirectPolicy(allowsDowngrades: configuration.allowsDowngrades)
        let none = [Hint?](repeating: nil, count: urls.count)
        let (absences, redirects) =
            (try? await read { reader in
                (try reader.hints(.absent, for: keys, now: now), try reader.hints(.moved, for: keys, now: now))
            }) ?? (none, none)
        return urls.indices.map { index in
            Hints(
                absence: absences[index],
                redirect: redirects[index].flatMap { policy.rememberedTarget($0.value, of: urls[index]) },
                negativeTimeToLive: archive.contains(urls[index].string) ? CoverArtArchive.negativeTimeToLive : nil)
        }
    }

    // MARK: Hosts

    /// What earlier runs learnt about hosts, by origin.
    func learntHosts() -> [String: HostMemory] {
        let now = HostMemory.Moment.now
        let all = (try? reader.hints(.host, now: now.milliseconds)) ?? []
        return all.reduce(into: [:]) { $0[$1.key] = HostMemory($1.value, at: now) }
    }

    /// Records what this run learnt. A failure is ignored.
    func recordHosts(_ hosts: [String: HostMemory]) async {
        let now = HostMemory.Moment.now
        let changes = hosts.compactMap { HintChange(host: $0.key, $0.value, now) }
        if changes.isEmpty { return }
        try? await persistency.withWriter { writer in
            writer.record(changes, now: now.milliseconds)
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

    /// RFC 9111 §5.2.2.2, §5.2.2.4.
    package static func staleOffline(_ url: String) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "offline, and \(Staleness.reason)")
    }

    /// A cached 404 or 410: the URL is not requested again before the hint expires.
    static func absent(_ url: String, _ hint: Hint) -> CoverFailure {
        let until = Date(milliseconds: hint.until).ISO8601Format()
        let status = Int(hint.value) ?? 404
        var failure = CoverFailure(
            .status, url: url, detail: "the server answered \(status) before; remembered until \(until)", status: status
        )
        failure.rememberedUntil = hint.until
        return failure
    }
}

extension Date {
    /// - Parameter milliseconds: since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
