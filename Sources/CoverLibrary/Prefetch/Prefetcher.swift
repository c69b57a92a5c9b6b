import CoverCache
import CurlHTTP

/// Leads a list through the library: what is fresh is done, what repeats joins, the rest is downloaded. One run.
final class Prefetcher: Sendable {
    private let library: LibraryAPI
    private let progress: PrefetchProgress
    /// Ask even where servers have said lately that nothing is there.
    private let retryingAbsent: Bool

    init(_ library: LibraryAPI, retryingAbsent: Bool, _ progress: PrefetchProgress) {
        self.library = library
        self.retryingAbsent = retryingAbsent
        self.progress = progress
    }

    /// Reads the list to its end, and returns when every cover has its outcome. Cancelling the task stops within 100 ms:
    /// transfers are dropped, covers that have arrived are still committed.
    /// - Throws: `LibraryError`: the library was closed before the end.
    func run(_ batches: some AsyncSequence<[ListElement], Never> & Sendable) async throws(LibraryError)
        -> PrefetchSummary
    {
        if library.isClosed { throw .closed }
        progress.begin()
        await library.schedulerIfStarted?.forgetOutages()
        let feeding = Task { await feed(batches) }
        library.network.began(ObjectIdentifier(self)) { feeding.cancel() }
        await withTaskCancellationHandler {
            await feeding.value
            await progress.drained()
        } onCancel: {
            progress.cancel()
            feeding.cancel()
            abandon()
        }
        library.network.ended(ObjectIdentifier(self))
        await library.flushUsage()
        let summary = progress.end()
        if library.isClosed, !summary.isCancelled, summary.remaining > 0 || progress.total == nil { throw .closed }
        return summary
    }

    private func abandon() { library.abandon(ObjectIdentifier(self)) }

    private func feed(_ batches: some AsyncSequence<[ListElement], Never>) async {
        var seen: Set<UInt64> = []
        for await batch in batches {
            if Task.isCancelled || progress.isStopped { return }
            await take(batch, &seen)
            await progress.ready()
        }
        progress.listEnded()
    }

    private func take(_ batch: [ListElement], _ seen: inout Set<UInt64>) async {
        progress.request(batch.count)
        let wanted = batch.compactMap { self.wanted($0) }
        let statuses: [CacheReader.Status?]
        do {
            statuses = try library.reader.status(of: wanted.map(\.url.string))
        } catch {
            stop("\(CacheError(error))")
            for cover in wanted {
                record(.failed, cover.given, failure: CoverFailure(.cache, url: cover.given, detail: "\(error)"))
            }
            return
        }
        library.passUsageOn(ofAtLeast: 65_536)
        var missing: [Wanted] = []
        var repeated: [Wanted] = []
        for (cover, status) in zip(wanted, statuses) {
            if let (given, status) = status.map({ (cover.given, $0) }) ?? laterPlace(of: cover) {
                let kind: CoverOutcome.Kind = seen.contains(cover.url.string.fingerprint) ? .joined : .fresh
                record(kind, given, digest: status.digest, bytes: status.bytes)
            } else if library.configuration.isOffline {
                record(.failed, cover.given, failure: .offline(cover.given))
            } else if seen.insert(cover.url.string.fingerprint).inserted {
                missing.append(cover)
            } else {
                repeated.append(cover)
            }
        }
        if !missing.isEmpty { await submit(missing) }
        // Only now, when those they repeat have been submitted.
        for cover in repeated { await ask(cover) }
        // A cancellation between the check above and the submission found nothing to abandon.
        if Task.isCancelled { abandon() }
    }

    /// What an element of a list wants; nil: nothing that can be had, which is recorded.
    private func wanted(_ element: ListElement) -> Wanted? {
        switch element {
        case .problem(let problem):
            let shown = CoverFailure.shown(problem.url ?? "")
            record(.skipped, shown, failure: CoverFailure(.badURL, url: shown, detail: "\(problem)"))
            return nil
        case .item(let item):
            do throws(CoverFailure) {
                // Most covers have one place, and lists may have millions.
                guard let album = item.album, !album.otherFields.isEmpty,
                    case let places = library.coverPlaces(of: album), !places.isEmpty
                else { return try Wanted(item.url, line: item.line) }
                return try Wanted(places, line: item.line)
            } catch {
                record(.skipped, error.url, failure: error)
                return nil
            }
        }
    }

    /// The first place after its own where the cover is stored.
    private func laterPlace(of cover: Wanted) -> (given: String, status: CacheReader.Status)? {
        if cover.rest.isEmpty { return nil }
        let places = cover.keys.dropFirst()
        guard let statuses = try? library.reader.status(of: places.map(\.key)) else { return nil }
        return zip(places, statuses).lazy.compactMap { place, status in status.map { (place.given, $0) } }.first
    }

    /// Has those downloaded of which nothing else is remembered.
    private func submit(_ missing: [Wanted]) async {
        var requests: [(url: HTTPURL, waiter: Waiter)] = []
        requests.reserveCapacity(missing.count)
        for (cover, remembered) in zip(missing, library.hints(for: missing.map(\.url))) {
            if let absence = remembered.absence, !retryingAbsent {
                failed(cover, .absent(cover.given, absence))
            } else {
                requests.append((cover.url, waiter(cover, remembered)))
            }
        }
        guard !requests.isEmpty else { return }
        do {
            try await library.scheduler().submit(requests)
        } catch {
            if !library.isClosed { stop(error.message) }
            progress.putOff(requests.count)
        }
    }

    /// Asks for one whose place this run may have asked before, and that was not in the cache a moment ago.
    private func ask(_ cover: Wanted) async {
        let key = cover.url.string
        if await library.schedulerIfStarted?.join(key, waiter(cover)) == true { return }
        if let failure = progress.failure(of: key) { return failed(cover, failure) }
        if let status = try? library.reader.status(of: [key]).first ?? nil {
            return record(.joined, cover.given, digest: status.digest, bytes: status.bytes)
        }
        await submit([cover])
    }

    private func waiter(_ cover: Wanted, _ remembered: Hints = Hints()) -> Waiter {
        Waiter(owner: ObjectIdentifier(self), remembered: remembered) { [self] delivery in
            switch delivery.result {
            case .success(let stored):
                record(
                    delivery.isJoined ? .joined : .downloaded, cover.given, digest: stored.digest, bytes: stored.bytes,
                    microseconds: delivery.microseconds, isDuplicate: stored.isDuplicate)
            case .failure(let failure): failed(cover, failure)
            }
        }
    }

    /// One of its places has failed for good: the next is asked, if there is one.
    private func failed(_ cover: Wanted, _ failure: CoverFailure) {
        // The run ends, which says nothing about the cover.
        if failure.kind == .cancelled { return progress.putOff() }
        var failure = failure
        failure.url = cover.given
        if failure.kind == .cache { stop(failure.detail) }
        progress.remember(failure, of: cover.url.string)
        let (next, told) = cover.next(after: failure)
        guard let next else { return record(.failed, told.url, failure: told) }
        if progress.isEnding { return progress.putOff() }
        Task {
            await ask(next)
            // An end between the look above and the submission found nothing to abandon.
            if progress.isEnding { abandon() }
        }
    }

    /// The disk takes no more: going on would only fetch what cannot be kept.
    private func stop(_ reason: String) {
        if progress.stop(reason) { abandon() }
    }

    private func record(
        _ kind: CoverOutcome.Kind, _ url: String, digest: Digest? = nil, bytes: Int = 0, microseconds: Int = 0,
        failure: CoverFailure? = nil, isDuplicate: Bool = false
    ) {
        progress.record(
            CoverOutcome(
                kind: kind, url: url, digest: digest?.description, bytes: bytes,
                milliseconds: Double(microseconds) / 1_000,
                failure: failure, isDuplicate: isDuplicate))
    }
}
