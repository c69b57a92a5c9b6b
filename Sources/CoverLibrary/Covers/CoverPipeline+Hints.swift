import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Platform

/// What the cache remembers about a URL without a cover.
struct Hints: Sendable {
    /// The server answered 404 or 410.
    var absence: Absence?
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
    /// The hints about the URL of each candidate.
    func hints(_ candidates: [CoverCandidate]) async -> [Hints] {
        zip(candidates, await hints(candidates.map(\.url))).map { candidate, hints in
            var hints = hints
            // A size that failed otherwise may be there: the cover is not absent for a week.
            if !candidate.mayBeAbsent { hints.negativeTimeToLive = nil }
            return hints
        }
    }

    /// The hints about each URL. Unreadable hints, and absences that were recorded ahead of now, are ignored.
    func hints(_ urls: [HTTPURL]) async -> [Hints] {
        let now = WallClock.milliseconds()
        let keys = urls.map(\.string)
        // The URL whose 404 says that the archive has the cover in no size.
        let last = keys.map { archive.lastSize(of: $0) ?? $0 }
        let policy = RedirectPolicy(allowsDowngrades: configuration.allowsDowngrades)
        let none = [Hint?](repeating: nil, count: urls.count)
        let (absences, lastAbsences, redirects) =
            (try? await read { reader in
                let absences = try reader.hints(.absent, for: keys, now: now)
                return (
                    absences, last == keys ? absences : try reader.hints(.absent, for: last, now: now),
                    try reader.hints(.moved, for: keys, now: now)
                )
            }) ?? (none, none, none)
        return urls.indices.map { index in
            Hints(
                absence: (lastAbsences[index] ?? absences[index]).flatMap { Absence($0, at: now) },
                redirect: redirects[index].flatMap { policy.rememberedTarget($0.value, of: urls[index]) },
                negativeTimeToLive: archive.lastSize(of: keys[index]) == keys[index]
                    ? CoverArtArchive.negativeTimeToLive : nil)
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
