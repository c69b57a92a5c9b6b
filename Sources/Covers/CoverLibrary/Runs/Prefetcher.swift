import CoverCache
import CoverFetch
import CurlHTTP
import Platform

/// Downloads every cover of a list that is not cached. One run.
struct Prefetcher: Sendable {
    let pipeline: CoverPipeline
    let run: Run

    /// Reads the list to its end, and returns when every cover has an outcome. Cancelling the task stops within 100 ms; covers that
    /// have arrived are still committed. A put into a tier that does not answer may take 10 s to end.
    /// - Throws: `LibraryError` if the library is closed before the end.
    func prefetch(_ batches: some AsyncSequence<CandidateBatch, Never> & Sendable) async throws(LibraryError) {
        try await traced("sleeve.prefetch") { () async throws(LibraryError) in try await download(batches) }
    }

    private func download(_ batches: some AsyncSequence<CandidateBatch, Never> & Sendable) async throws(LibraryError) {
        if pipeline.isClosed { throw .closed }
        await pipeline.startedScheduler?.forgetOutages()
        do {
            try await pipeline.persistency.beginRun(spares: pipeline.uploads == nil)
        } catch {
            throw LibraryError(error)
        }
        let feeding = Task { await feed(batches) }
        pipeline.beginRun(ObjectIdentifier(run)) { feeding.cancel() }
        await withTaskCancellationHandler {
            await feeding.value
            await run.drained()
        } onCancel: {
            feeding.cancel()
            cancelRequests()
        }
        pipeline.endRun(ObjectIdentifier(run))
        await pipeline.persistency.endRun()
        await pipeline.flushUsage()
        let counts = run.counts
        if pipeline.isClosed, !counts.isCancelled, counts.remaining > 0 || run.total == nil { throw .closed }
    }

    private func cancelRequests() { pipeline.cancelRequests(of: ObjectIdentifier(run)) }

    private func feed(_ batches: some AsyncSequence<CandidateBatch, Never>) async {
        var seen: Set<UInt64> = []
        for await batch in batches {
            if Task.isCancelled || run.isEnding { return }
            await take(batch, &seen)
            await run.waitForReader()
        }
        // A cancelled task reads no further, wherever the list ends.
        if !Task.isCancelled { run.didReadList() }
    }

    private func take(_ batch: CandidateBatch, _ seen: inout Set<UInt64>) async {
        run.addRequests(batch.count)
        for failure in batch.unusable {
            var outcome = CoverOutcome(failed: failure)
            outcome.kind = .skipped
            run.add(outcome)
        }
        if let error = batch.error {
            stop("\(error)")
            for item in batch.items { fail(item.candidate, CoverFailure(.cache, url: "", detail: "\(error)")) }
            return
        }
        pipeline.passUsageOn(ofAtLeast: 8_192)
        var missing: [CandidateBatch.Item] = []
        var repeated: [CoverCandidate] = []
        var (hits, misses) = (0, 0)
        for item in await restoringPictures(batch.items) {
            let candidate = item.candidate
            let fingerprint = candidate.url.string.fingerprint
            let policy = candidate.options.cachePolicy
            if pipeline.configuration.isOffline, policy.asksServer {
                fail(candidate, .offline(candidate.location, policy))
            } else if let cached = item.cached, !policy.asksServer {
                hits += 1
                add(seen.contains(fingerprint) ? .joined : .fresh, candidate, cached)
            } else if pipeline.configuration.isOffline || policy == .onlyCache {
                misses += 1
                fail(candidate, .offline(candidate.location))
            } else if seen.insert(fingerprint).inserted {
                if !policy.asksServer { misses += 1 }
                missing.append(item)
            } else {
                repeated.append(candidate)
            }
        }
        pipeline.hub.instruments.didLookUp(hits: hits, misses: misses)
        if !missing.isEmpty {
            // The covers that this run has found in the cache count as used before its other covers need room.
            if missing.count < batch.items.count { await pipeline.flushUsage() }
            if pipeline.tier != nil { missing = await takeFromTier(missing) }
            await submit(missing)
        }
        // After the requests that they repeat.
        for candidate in repeated { await join(candidate) }
        // A cancellation between the check above and the submission found nothing to cancel.
        if Task.isCancelled { cancelRequests() }
    }

    /// The items, after pictures of a person that the cache has lost were copied to it again.
    private func restoringPictures(_ items: [CandidateBatch.Item]) async -> [CandidateBatch.Item] {
        var items = items
        let lost = items.indices.filter {
            items[$0].cached == nil && OwnPictures.isAddress(items[$0].candidate.url.string)
        }
        if lost.isEmpty { return items }
        await pipeline.restorePictures(lost.map { items[$0].candidate.url.string })
        for index in lost { items[index] = await pipeline.lookUp(items[index].candidate) }
        return items
    }

    /// Stores the covers that the tier has. - Returns: the others.
    private func takeFromTier(_ missing: [CandidateBatch.Item]) async -> [CandidateBatch.Item] {
        let found = await pipeline.fetchFromTier(missing.map(\.candidate))
        var rest: [CandidateBatch.Item] = []
        for (item, outcome) in zip(missing, found) {
            guard var outcome else {
                rest.append(item)
                continue
            }
            outcome.line = item.candidate.line
            run.add(outcome)
        }
        return rest
    }

    private func submit(_ missing: [CandidateBatch.Item]) async {
        var requests: [(url: HTTPURL, request: FetchRequest)] = []
        requests.reserveCapacity(missing.count)
        for item in missing {
            let candidate = item.candidate
            if let absence = item.hints.absence, candidate.options.usesAbsence {
                failed(candidate, .absent(candidate.location, absence))
            } else {
                requests.append((candidate.url, request(candidate, item.hints, stored: item.stored, mark: item.mark)))
            }
        }
        guard !requests.isEmpty else { return }
        do throws(LibraryError) {
            try await pipeline.scheduler().submit(requests)
        } catch {
            if !pipeline.isClosed { stop(error.message) }
            run.moveToNextRun(requests.count)
        }
    }

    /// Requests a URL that this run may have requested before, and that was not cached a moment ago.
    private func join(_ candidate: CoverCandidate) async {
        if await pipeline.startedScheduler?.join(candidate.url, request(candidate, Hints())) == true { return }
        let hasFields = !candidate.options.headerFields.isEmpty
        if !hasFields, let failure = run.failure(of: candidate.url.string) { return failed(candidate, failure) }
        let item = await pipeline.lookUp(candidate)
        if let cached = item.cached, cached.location == candidate.location { return add(.joined, candidate, cached) }
        // Its outcome may have become known between the join and the look-up.
        if !hasFields, let failure = run.failure(of: candidate.url.string) { return failed(candidate, failure) }
        await submit([item])
    }

    private func request(
        _ candidate: CoverCandidate, _ hints: Hints, stored: StoredVersion? = nil, mark: Int? = nil
    ) -> FetchRequest {
        var request = candidate.fetchRequest(owner: run, hints, stored: stored, priority: .normal) { [self] outcome in
            if let failure = outcome.failure {
                return failed(candidate, failure, milliseconds: outcome.milliseconds)
            }
            var outcome = outcome
            if outcome.isJoined { outcome.kind = .joined }
            (outcome.url, outcome.line) = (candidate.location, candidate.line)
            run.add(outcome)
        }
        request.mark = mark
        request.isPutAwaited = { [run] in !run.isCancelled }
        return request
    }

    /// Tries the cover's next URL, if there is one.
    private func failed(_ candidate: CoverCandidate, _ failure: CoverFailure, milliseconds: Double = 0) {
        // The end of the run says nothing about the cover.
        if failure.kind == .cancelled { return run.moveToNextRun() }
        var failure = failure
        failure.url = candidate.location
        failure.line = candidate.line
        if failure.kind == .cache { stop(failure.detail) }
        // Other header fields may get another answer.
        if candidate.options.headerFields.isEmpty { run.remember(failure, of: candidate.url.string) }
        let (next, combined) = candidate.next(after: failure)
        guard let next else { return run.add(CoverOutcome(failed: combined, milliseconds: milliseconds)) }
        if run.isEnding { return run.moveToNextRun() }
        Task {
            await join(next)
            // An end between the check above and the submission found nothing to cancel.
            if run.isEnding { cancelRequests() }
        }
    }

    /// Ends the run early: the disk takes no more.
    private func stop(_ reason: String) {
        if run.stop(reason) { cancelRequests() }
    }

    private func add(
        _ kind: CoverOutcome.Kind, _ candidate: CoverCandidate, _ cached: (location: String, status: CacheReader.Status)
    ) {
        var outcome = CoverOutcome(kind, url: cached.location, line: candidate.line)
        (outcome.contentDigest, outcome.bytes) = (cached.status.digest, cached.status.bytes)
        run.add(outcome)
    }

    /// A failure without a request.
    private func fail(_ candidate: CoverCandidate, _ failure: CoverFailure) {
        var failure = failure
        (failure.url, failure.line) = (candidate.location, candidate.line)
        run.add(CoverOutcome(failed: failure))
    }
}

extension String {
    /// A 64-bit hash. The set of seen URLs holds these.
    fileprivate var fingerprint: UInt64 {
        var hasher = Hasher()
        hasher.combine(self)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
