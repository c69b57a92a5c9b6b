import CurlHTTP

/// Covers that another process may be downloading, or may have stored.
extension DownloadScheduler {
    /// Whether a job may start. A stored cover is revalidated without a lease: one process at a time refreshes a cache.
    func admit(_ job: Job<FetchRequest>, _ now: ContinuousClock.Instant) -> Admission {
        job.requests.contains { $0.stored != nil } ? .start : jobLeases.admit(job.id, job.url.string, now: now)
    }

    /// Looks up the covers that wait for it. - Returns: when to call it next; nil for after the next event.
    func lookUp(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let jobs = jobLeases.jobsToLookUp(now: now)
        if !jobs.isEmpty {
            let waiting = jobs.compactMap { job in queue.keyToStart(job).map { (job, $0) } }
            Task { didLookUp(waiting.map(\.0), await jobLeases.leases?.stored(waiting.map(\.1)) ?? []) }
        }
        return jobLeases.deadline
    }

    /// Releases the leases of jobs that were cancelled.
    func endLeases() { jobLeases.endAll { queue.contains($0) } }

    private func didLookUp(_ jobs: [JobID], _ covers: [StoredCover?]) {
        jobLeases.didLookUp()
        var found: [StoreResult] = []
        for (job, cover) in zip(jobs, covers) where queue.keyToStart(job) != nil {
            if let cover {
                var result = FetchResult(.success(cover))
                result.isCached = true
                found.append(.finished(job, result))
            } else {
                jobLeases.isMissing(job)
                queue.resume(job)
            }
        }
        didStore(found)
    }
}
