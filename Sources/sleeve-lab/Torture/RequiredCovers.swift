/// The covers that the cache must hold, kept outside of it: those that a process has acknowledged, or that a check has read, and
/// that no eviction may have removed since.
///
/// Times are since the start of the torture. A process acknowledges its covers after it has started and an eviction removes them
/// before it has ended, so a cover is required if its process started after the last eviction had ended.
struct RequiredCovers: Sendable, Equatable {
    struct Requirement: Sendable, Equatable {
        var digest: String
        /// The process that acknowledged it, for people: `prefetch 12 of round 3`.
        var source: String
        /// The start of that process.
        var since: Duration
    }

    /// By URL.
    private(set) var covers: [String: Requirement] = [:]
    private var lastEviction: Duration?

    /// Adds what a process has acknowledged.
    mutating func acknowledge(_ acknowledgements: [Acknowledgement], source: String, since start: Duration) {
        if let lastEviction, start <= lastEviction { return }
        for acknowledgement in acknowledgements {
            if let known = covers[acknowledgement.url], known.since > start { continue }
            covers[acknowledgement.url] = Requirement(
                digest: acknowledgement.digest, source: source, since: start)
        }
    }

    /// Drops what an eviction may have removed. It may have been killed.
    mutating func evict(until end: Duration) {
        lastEviction = max(end, lastEviction ?? end)
        covers = covers.filter { $0.value.since > end }
    }

    /// Replaces everything by the covers that a check has found: each of them must stay.
    mutating func replace(by listed: [String: String], source: String, at time: Duration) {
        covers = listed.mapValues { Requirement(digest: $0, source: source, since: time) }
        lastEviction = nil
    }

    /// The required covers that are not listed, and those that are listed with another digest.
    func violations(listed: [String: String]) -> [TortureViolation] {
        covers.sorted { $0.key < $1.key }.compactMap { url, requirement in
            if listed[url] == requirement.digest { return nil }
            let found = listed[url].map { "the cache lists the digest \($0)" } ?? "the cache does not list it"
            return TortureViolation(
                .lost, url: url, digest: requirement.digest, "\(found); acknowledged by \(requirement.source)")
        }
    }
}

extension RequiredCovers {
    /// Records what the processes of a round have acknowledged, and what they may have evicted.
    mutating func record(_ processes: [TortureProcess], in round: TortureRound, endedAt end: Duration) {
        for process in processes {
            acknowledge(
                process.acknowledgements, source: "\(process.name) of round \(round.number)", since: process.start)
        }
        for process in processes where process.job.mayEvict { evict(until: process.end) }
        // Any prefetch may have evicted.
        if round.kind == .full { evict(until: end) }
    }
}
