import CoverCache
import CurlHTTP

/// Leads a list through the library: what is fresh is done, what repeats joins, the rest is downloaded. One run.
final class Prefetcher: Sendable {
    private let library: LibraryAPI
    private let progress: PrefetchProgress

    init(_ library: LibraryAPI, _ progress: PrefetchProgress) {
        self.library = library
        self.progress = progress
    }

    /// Reads the list to its end, and returns when every cover has its outcome. Cancelling the task stops within 100 ms:
    /// transfers are dropped, covers that have arrived are still committed.
    func run(_ batches: some AsyncSequence<[ListElement], Never>) async -> PrefetchSummary {
        progress.begin()
        await withTaskCancellationHandler {
            await feed(batches)
            await progress.drained()
        } onCancel: {
            progress.cancel()
            abandon()
        }
        await library.flushUsage()
        return progress.end()
    }

    private func abandon() { library.abandon(ObjectIdentifier(self)) }

    private func feed(_ batches: some AsyncSequence<[ListElement], Never>) async {
        var seen: Set<UInt64> = []
        for await batch in batches {
            if Task.isCancelled || progress.isStopped { return }
            await take(batch, &seen)
        }
        progress.listEnded()
    }

    private func take(_ batch: [ListElement], _ seen: inout Set<UInt64>) async {
        progress.request(batch.count)
        var wanted: [(given: String, url: HTTPURL)] = []
        wanted.reserveCapacity(batch.count)
        for element in batch {
            switch element {
            case .problem(let problem):
                let shown = CoverFailure.shown(problem.url ?? "")
                record(.skipped, shown, failure: CoverFailure(.badURL, url: shown, detail: "\(problem)"))
            case .item(let item):
                do throws(HTTPURL.Problem) {
                    wanted.append((item.url, try HTTPURL(item.url)))
                } catch {
                    let shown = CoverFailure.shown(item.url)
                    record(
                        .skipped, shown, failure: CoverFailure(.badURL, url: shown, detail: "\(error)", line: item.line)
                    )
                }
            }
        }
        let statuses: [CacheReader.Status?]
        do {
            statuses = try library.reader.status(of: wanted.map(\.url.string))
        } catch {
            stop("\(CacheError(error))")
            for (given, _) in wanted {
                record(.failed, given, failure: CoverFailure(.cache, url: given, detail: "\(error)"))
            }
            return
        }
        library.passUsageOn(ofAtLeast: 8_192)
        var missing: [(url: HTTPURL, waiter: Waiter)] = []
        var repeated: [(given: String, url: HTTPURL)] = []
        for ((given, url), status) in zip(wanted, statuses) {
            if let status {
                let kind: CoverOutcome.Kind = seen.contains(url.string.fingerprint) ? .joined : .fresh
                record(kind, given, digest: status.digest, bytes: status.bytes)
            } else if library.configuration.isOffline {
                record(.failed, given, failure: .offline(given))
            } else if seen.insert(url.string.fingerprint).inserted {
                missing.append((url, waiter(given, url)))
            } else {
                repeated.append((given, url))
            }
        }
        if !missing.isEmpty { await library.scheduler().submit(missing) }
        // Only now, when those they repeat have been submitted.
        for (given, url) in repeated { await takeRepeated(given, url) }
        // A cancellation between the check above and the submission found nothing to abandon.
        if Task.isCancelled { abandon() }
    }

    /// A URL that this run has asked for before, and that was not in the cache a moment ago.
    private func takeRepeated(_ given: String, _ url: HTTPURL) async {
        let scheduler = await library.scheduler()
        if await scheduler.join(url.string, waiter(given, url)) { return }
        if let failure = progress.failure(of: url.string) { return record(.failed, given, failure: failure) }
        if let status = try? library.reader.status(of: [url.string]).first ?? nil {
            return record(.joined, given, digest: status.digest, bytes: status.bytes)
        }
        await scheduler.submit([(url, waiter(given, url))])
    }

    private func waiter(_ given: String, _ url: HTTPURL) -> Waiter {
        Waiter(owner: ObjectIdentifier(self)) { [self] delivery in
            switch delivery.result {
            case .success(let stored):
                record(
                    delivery.isJoined ? .joined : .downloaded, given, digest: stored.digest, bytes: stored.bytes,
                    microseconds: delivery.microseconds, isDuplicate: stored.isDuplicate)
            case .failure(var failure):
                failure.url = given
                if failure.kind == .cache { stop(failure.detail) }
                progress.remember(failure, of: url.string)
                record(.failed, given, failure: failure)
            }
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
