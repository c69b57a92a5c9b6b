package import CurlHTTP
package import Logging
import Platform
import Synchronization

/// The covers that several caches share. It stays away from a storage that does not answer (`TierGate`), and counts.
package final class Tier: Sendable {
    /// The contents of `CacheDirectory.tierFormat`: the name and the version of the format.
    package static let format = "sleeve tier 1\n"
    /// Larger covers are not shared, in bytes.
    package static let maximumCover = 8 << 20
    /// A put waits this long for a tier that does not answer. Later ones fail immediately, until it answers again.
    private static let patience = Duration.seconds(30)

    /// The clock, which tests replace.
    package struct Time: Sendable {
        package var now: @Sendable () -> ContinuousClock.Instant = { .now }
        package var sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
        package init() {}
    }

    private struct State {
        var gate = TierGate()
        var statistics = TierStatistics()
        var isChecked = false
        var isStopped = false
        /// Whether a problem with a read, and with a put, was reported: one is enough.
        var reported: Set<String> = []
    }

    private let storage: any TierStorage
    private let name: String
    package let isReadOnly: Bool
    private let logger: Logger
    private let time: Time
    private let state = Mutex(State())

    /// - Parameter name: for messages.
    package init(_ storage: any TierStorage, name: String, isReadOnly: Bool, logger: Logger, time: Time = Time()) {
        (self.storage, self.name, self.isReadOnly) = (storage, name, isReadOnly)
        (self.logger, self.time) = (logger, time)
    }

    /// The storage at a location: `s3://BUCKET/PREFIX`, or the path of a directory.
    /// - Parameter configuration: the user agent and the certificate authorities for a bucket.
    package static func storage(
        at location: String, _ configuration: HTTPClientConfiguration
    ) throws(TierError) -> any TierStorage {
        if location.hasPrefix("s3://") { return try TierBucket(location, configuration) }
        if location.contains("://") || location.lowercased().hasPrefix("s3:") {
            throw .refused("expected a directory or s3://BUCKET/PREFIX")
        }
        return TierDirectory(URL(filePath: location).filePath ?? location)
    }

    package var statistics: TierStatistics { state.withLock { $0.statistics } }

    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// From now on puts fail immediately, those that wait included.
    package func stop() { state.withLock { $0.isStopped = true } }

    /// Checks that the tier can be used. The first call does so otherwise. A server that is busy gets three tries; one that is silent has had its
    /// time with the first.
    package func check() async throws(TierError) {
        let start = time.now()
        for failures in 1... {
            do throws(TierError) {
                return try await checkOnce()
            } catch {
                guard case .unreachable = error, failures < 3, time.now() - start < .seconds(5) else { throw error }
                await pause(after: failures)
            }
        }
    }

    private func checkOnce() async throws(TierError) {
        try await storage.check(isReadOnly: isReadOnly)
        state.withLock { $0.isChecked = true }
    }

    /// Full jitter.
    private func pause(after failures: Int) async {
        await time.sleep(.milliseconds(Int.random(in: 1...250 << failures)))
    }

    /// The cover of a URL, whole; nil if the tier lacks it or cannot be asked.
    package func cover(for url: String) async -> TierCover? {
        let key = TierKey(url)
        do throws(TierError) {
            let found = try await call(key) { () throws(TierError) in try await storage.cover(for: key) } ?? nil
            count(found == nil ? \.misses : \.hits)
            return found
        } catch {
            count(\.misses)
            if case .damaged = error { count(\.damaged) }
            if case .refused = error { count(\.forbidden) }
            report(error, "a cover cannot be read")
            return nil
        }
    }

    /// What `cover(for:)` has returned is no cover.
    package func didFindDamage() {
        state.withLock { state in
            state.statistics.hits -= 1
            state.statistics.misses += 1
            state.statistics.damaged += 1
        }
    }

    /// Puts a cover: three tries, and some patience with a tier that does not answer.
    /// - Parameter isWanted: whether to go on waiting for the tier.
    /// - Throws: why it was not put. Pass it to `didNotPut`.
    package func put(_ cover: TierCover, isWanted: @Sendable () -> Bool = { true }) async throws(TierError) {
        let start = time.now()
        var (failure, failures) = (TierError.unreachable("it does not answer"), 0)
        while !isStopped, !Task.isCancelled, isWanted() {
            do throws(TierError) {
                if try await call(cover.key, { () throws(TierError) in try await storage.put(cover) }) != nil {
                    return count(\.stored)
                }
            } catch {
                (failure, failures) = (error, failures + 1)
            }
            let since = min(start, state.withLock { $0.gate.closedSince } ?? start)
            guard case .unreachable = failure, failures < 3, time.now() - since < Self.patience else { break }
            await pause(after: failures)
        }
        throw failure
    }

    /// Counts a cover that was not put.
    package func didNotPut(_ error: TierError) {
        if case .unsuitable = error { return count(\.unsuitable) }
        count(\.failed)
        report(error, "a cover cannot be put")
    }

    /// - Returns: nil while the gate is closed.
    private func call<Result>(
        _ key: TierKey, _ body: () async throws(TierError) -> Result
    ) async throws(TierError) -> Result? {
        let isChecked = state.withLock { state in
            state.gate.admits(time.now()) ? state.isChecked : nil
        }
        guard let isChecked else { return nil }
        do throws(TierError) {
            if !isChecked { try await checkOnce() }
            let result = try await body()
            didEnd(key, nil)
            return result
        } catch {
            didEnd(key, error)
            throw error
        }
    }

    private func didEnd(_ key: TierKey, _ error: TierError?) {
        let now = time.now()
        if case .unreachable(let reason) = error {
            if state.withLock({ $0.gate.failed(key, now) }) {
                logger.warning("the tier \(name) does not answer, and is left alone meanwhile: \(reason)")
            }
        } else if state.withLock({ $0.gate.succeeded() }) {
            logger.notice("the tier \(name) answers again")
        }
    }

    private func count(_ counter: WritableKeyPath<TierStatistics, Int>) {
        state.withLock { $0.statistics[keyPath: counter] += 1 }
    }

    /// Warns of the first problem. The gate has warned of a tier that does not answer.
    private func report(_ error: TierError, _ what: String) {
        if case .unreachable = error { return }
        let isNew = state.withLock { $0.reported.insert(what).inserted }
        if isNew { logger.warning("the tier \(name): \(what): \(error); further ones are only counted") }
    }
}
