import CoverCache
import CoverFetch
import CurlHTTP
import Platform

/// Downloads every cover of a list that is not cached. One run.
struct Prefetcher: Sendable {
    let pipeline: CoverPipeline
    let policy: CoverRequest.CachePolicy
    let run: Run

    /// Reads the list to its end, and returns when every cover has an outcome. Cancelling the task stops within 100 ms; covers that
    /// have arrived are still committed.
    /// - Throws: `LibraryError` if the library is closed before the end.
    func prefetch(_ batches: some AsyncSequence<[ListElement], Never> & Sendable) async throws(LibraryError) {
        if pipeline.isClosed { throw .closed }
        await pipeline.startedScheduler?.forgetOutages()
        do {
            try await pipeline.persistency.beginRun()
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

    private func feed(_ batches: some AsyncSequence<[ListElement], Never>) async {
        var seen: Set<UInt64> = []
        for await batch in batches {
            if Task.isCancelled || run.isEnding { return }
            await take(batch, &seen)
            await run.waitForReader()
        }
        // A cancelled task reads no further, wherever the list ends.
        if !Task.isCancelled { run.didReadList() }
    }

    private func take(_ batch: [ListElement], _ seen: inout Set<UInt64>) async {
        run.add(batch.count)
        let candidates = batch.compactMap { candidate($0) }
        let statuses: [CacheReader.Status?]
        do {
            let keys = candidates.map(\.url.string)
            statuses = try await pipeline.read { try $0.status(of: keys) }
        } catch {
            stop("\(CacheError(error))")
            for candidate in candidates {
                run.record(
                    CoverOutcome(
                        failed: CoverFailure(
                            .cache, url: candidate.location, detail: "\(CacheError(error))", line: candidate.line)))
            }
            return
        }
        pipeline.passUsageOn(ofAtLeast: 8_192)
        var missing: [CoverCandidate] = []
        var repeated: [CoverCandidate] = []
        for (candidate, status) in zip(candidates, statuses) {
            let fingerprint = candidate.url.string.fingerprint
            if let (location, status) = await cached(candidate, status) {
                record(seen.contains(fingerprint) ? .joined : .fresh, location, candidate.line, status)
            } else if pipeline.configuration.isOffline || policy == .onlyCache {
                var failure = CoverFailure.offline(candidate.location)
                failure.line = candidate.line
                run.record(CoverOutcome(failed: failure))
            } else if seen.insert(fingerprint).inserted {
                missing.append(candidate)
            } else {
                repeated.append(candidate)
            }
        }
        if !missing.isEmpty {
            // What this run has found in the cache counts as used before its other covers need room.
            if missing.count < candidates.count { await pipeline.flushUsage() }
            await submit(missing)
        }
        // After the requests that they repeat.
        for candidate in repeated { await join(candidate) }
        // A cancellation between the check above and the submission found nothing to cancel.
        if Task.isCancelled { cancelRequests() }
    }

    /// Nil if the element locates no cover; that outcome is recorded.
    private func candidate(_ element: ListElement) -> CoverCandidate? {
        do throws(CoverFailure) {
            switch element {
            case .problem(let problem):
                throw CoverFailure(
                    .badURL, url: Redaction.displayable(problem.url ?? ""), detail: "\(problem)",
                    line: problem.location.line > 0 ? problem.location.line : nil)
            case .item(let item):
                guard let album = item.album else { return try CoverCandidate(item.url, line: item.line) }
                var request = CoverRequest(album: album)
                request.location = item.url
                request.line = item.line
                return try CoverCandidate(try pipeline.locations(of: request), line: item.line)
            }
        } catch {
            var outcome = CoverOutcome(failed: error)
            outcome.kind = .skipped
            run.record(outcome)
            return nil
        }
    }

    /// The first URL of the cover that is cached.
    private func cached(
        _ candidate: CoverCandidate, _ status: CacheReader.Status?
    ) async -> (location: String, status: CacheReader.Status)? {
        if let status { return (candidate.location, status) }
        if candidate.alternatives.isEmpty { return nil }
        let alternatives = candidate.alternativeKeys
        guard let statuses = try? await pipeline.read({ try $0.status(of: alternatives.map(\.key)) }) else {
            return nil
        }
        return zip(alternatives, statuses).lazy.compactMap { alternative, status in
            status.map { (alternative.location, $0) }
        }.first
    }

    private func submit(_ missing: [CoverCandidate]) async {
        var requests: [(url: HTTPURL, request: FetchRequest)] = []
        requests.reserveCapacity(missing.count)
        for (candidate, hints) in zip(missing, await pipeline.hints(missing)) {
            if let absence = hints.absence, policy != .ignoreAbsence {
                failed(candidate, .absent(candidate.location, absence))
            } else {
                var request = request(candidate)
                request.apply(hints)
                requests.append((candidate.url, request))
            }
        }
        guard !requests.isEmpty else { return }
        do throws(LibraryError) {
            try await pipeline.scheduler().submit(requests)
        } catch {
            if !pipeline.isClosed { stop(error.message) }
            run.postpone(requests.count)
        }
    }

    /// Requests a URL that this run may have requested before, and that was not cached a moment ago.
    private func join(_ candidate: CoverCandidate) async {
        let key = candidate.url.string
        if await pipeline.startedScheduler?.join(candidate.url, request(candidate)) == true { return }
        if let failure = run.failure(of: key) { return failed(candidate, failure) }
        if let status = try? await pipeline.read({ try $0.status(of: [key]).first ?? nil }) {
            return record(.joined, candidate.location, candidate.line, status)
        }
        await submit([candidate])
    }

    private func request(_ candidate: CoverCandidate) -> FetchRequest {
        FetchRequest(owner: ObjectIdentifier(run)) { [self] result in
            switch result.result {
            case .success(let cover):
                // Another process brought a cached one: this run transferred nothing.
                let kind: CoverOutcome.Kind = result.isJoined ? .joined : result.isCached ? .fresh : .downloaded
                var outcome = CoverOutcome(kind, candidate.location, line: candidate.line)
                outcome.digest = cover.digest
                outcome.bytes = cover.byteCount
                outcome.isDuplicate = cover.isDuplicate
                outcome.milliseconds = Double(result.microseconds) / 1_000
                if !result.isJoined { outcome.timings = result.timings }
                run.record(outcome)
            case .failure(let failure): failed(candidate, failure, milliseconds: Double(result.microseconds) / 1_000)
            }
        }
    }

    /// Tries the cover's next URL, if there is one.
    private func failed(_ candidate: CoverCandidate, _ failure: CoverFailure, milliseconds: Double = 0) {
        // The end of the run says nothing about the cover.
        if failure.kind == .cancelled { return run.postpone() }
        var failure = failure
        failure.url = candidate.location
        failure.line = candidate.line
        if failure.kind == .cache { stop(failure.detail) }
        run.remember(failure, of: candidate.url.string)
        let (next, combined) = candidate.next(after: failure)
        guard let next else { return run.record(CoverOutcome(failed: combined, milliseconds: milliseconds)) }
        if run.isEnding { return run.postpone() }
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

    private func record(_ kind: CoverOutcome.Kind, _ location: String, _ line: Int?, _ status: CacheReader.Status) {
        var outcome = CoverOutcome(kind, location, line: line)
        outcome.digest = status.digest.description
        outcome.bytes = status.bytes
        run.record(outcome)
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
