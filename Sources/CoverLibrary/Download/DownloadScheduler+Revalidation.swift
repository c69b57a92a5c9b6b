import CurlHTTP
import DequeModule
import HTTPTypes
import Platform

/// Revalidating many entries at a time. What is said of them by anything but a plain 304 is a job's to deal with.
extension DownloadScheduler {
    /// What an answer on its way to the index takes of the memory, in bytes.
    private static let footprint = 512
    /// So many jobs are to make a server known in vain before all that is asked of it are jobs.
    private static let mostScouts = 2

    /// Adds entries to be revalidated. `submit` makes callers wait until there is room for more.
    func revalidate(_ batches: [RevalidationBatch]) {
        for batch in batches {
            if isClosed {
                batch.settle(batch, .left(batch.entries.count))
                continue
            }
            guard let url = batch.urls.first else { continue }
            let host = queue.number(of: url)
            queue.addOthers(batch.entries.count, host)
            lane.add(batch, batch.entries.indices, host: host)
        }
    }

    /// Starts what hosts take now. True: there are new jobs.
    func startRevalidations(_ now: ContinuousClock.Instant) -> Bool {
        // Each has its share first; then they take what others leave.
        for isBeyond in [false, true] {
            for host in lane.ring where start(host, isBeyond, now) { return true }
        }
        lane.turn()
        return false
    }

    private func start(_ host: Int, _ isBeyond: Bool, _ now: ContinuousClock.Instant) -> Bool {
        while hasRoom, lane.hosts[host]?.waiting.isEmpty == false {
            switch queue.grant(host, beyondShare: isBeyond, now: now) {
            case .some(0): return false
            case .some(let room):
                switch start(host, atMost: room, now) {
                case .started: continue
                case .unknown: return scout(host)
                case .refused:
                    makeJobs(.max, host)
                    return true
                }
            case .scout: return scout(host)
            case .jobs:
                makeJobs(.max, host)
                return true
            }
        }
        return false
    }

    private func start(_ host: Int, atMost room: Int, _ now: ContinuousClock.Instant) -> PipelineStart {
        let length = lane.hosts[host]?.depth.length(limit: queue.hosts[host].pace.limit) ?? 1
        guard let (batch, numbers) = lane.take(min(room, length), host: host) else { return .started }
        let company = queue.hosts[host].inFlight + numbers.count
        let run = RevalidationRun(batch, numbers, host: host, company: company, of: self)
        let started = client.assumeIsolated { $0.start(run.pipeline, for: run) }
        guard started == .started else {
            lane.add(batch, numbers, host: host, first: true)
            return started
        }
        queue.beginOthers(numbers.count, host, now: now)
        lane.hosts[host]?.scouts = 0
        lane.underWay[ObjectIdentifier(run)] = run
        return .started
    }

    /// Has a job make the server known, unless one is about to.
    private func scout(_ host: Int) -> Bool {
        if queue.hosts[host].isAsked { return false }
        let scouts = lane.hosts[host]?.scouts ?? 0
        lane.hosts[host]?.scouts += 1
        makeJobs(scouts < Self.mostScouts ? 1 : .max, host)
        return true
    }

    /// The next entries that wait for the host are to be asked for each by itself.
    private func makeJobs(_ most: Int, _ host: Int) {
        var left = most
        while left > 0, let (batch, numbers) = lane.take(left, host: host) {
            for number in numbers { makeJob(batch, number, host) }
            left -= numbers.count
        }
    }

    private func makeJob(_ batch: RevalidationBatch, _ number: Int, _ host: Int) {
        queue.removeOthers(1, host)
        _ = queue.submit(batch.urls[number], waiter: batch.waiter(batch.entries[number]))
    }

    // MARK: What becomes of a pipeline

    /// The answer to an entry's request is another than a plain 304, or there is none: it goes on as a job.
    func adopt(_ number: Int, of run: RevalidationRun) -> PipelineDetour {
        run.adopted += 1
        let url = run.batch.urls[number]
        let waiter = run.batch.waiter(run.batch.entries[number])
        let adopted = queue.adopt(url, waiter, run.host, began: run.pipeline.began, company: run.company)
        guard let adopted else {
            // Another asks for it already, whose answer does for both.
            return .unheard(url)
        }
        board(adopted.job)
        return PipelineDetour(request(for: adopted)) { [weak self] result in
            self?.assumeIsolated { $0.ended(adopted, result) }
        } started: { [weak self] token in
            self?.assumeIsolated { $0.flights[adopted.job.slot].token = token }
        }
    }

    func ended(_ run: RevalidationRun) {
        lane.underWay[ObjectIdentifier(run)] = nil
        let pipeline = run.pipeline
        let now = ContinuousClock.now
        if pipeline.hasExcess {
            // Whose the answers are is not certain: each is asked for by itself.
            for (number, _) in pipeline.stood { makeJob(run.batch, number, run.host) }
            lane.hosts[run.host]?.depth.broke()
        } else if !pipeline.stood.isEmpty {
            stand(run, now)
        }
        if run.adopted > 0 { lane.hosts[run.host]?.depth.wasHeldUp() }
        queue.leaveOthers(pipeline.range.count - run.adopted, run.host)
        let rest = pipeline.range.dropFirst(pipeline.answered)
        if rest.isEmpty {
            let limit = queue.hosts[run.host].pace.limit
            lane.hosts[run.host]?.depth.answered(
                pipeline.range.count, company: run.company, limit: limit, began: pipeline.began, now: now)
        } else if run.isAbandoned {
            queue.removeOthers(rest.count, run.host)
            run.batch.settle(run.batch, .left(rest.count))
        } else {
            goOn(run, rest)
        }
    }

    /// The server has closed the connection before it had answered everything.
    private func goOn(_ run: RevalidationRun, _ rest: Range<Int>) {
        if run.pipeline.isCutShort { return lane.add(run.batch, rest, host: run.host, first: true) }
        // Where that happens again and again, every time has its job, which takes it from there.
        makeJob(run.batch, rest.lowerBound, run.host)
        lane.add(run.batch, rest.dropFirst(), host: run.host, first: true)
        if run.pipeline.answered > 0 { lane.hosts[run.host]?.depth.broke() }
    }

    private func stand(_ run: RevalidationRun, _ now: ContinuousClock.Instant) {
        let (pipeline, count) = (run.pipeline, run.pipeline.stood.count)
        let ended = HostPace.Ended(
            began: pipeline.began, company: run.company, hadOthers: lane.hosts[run.host]?.waiting.isEmpty == false)
        for _ in 0..<count { queue.otherAnswered(run.host, ended, now: now) }
        queue.removeOthers(count, run.host)
        let seconds = (now - pipeline.began).inSeconds
        let standing = Standing(
            batch: run.batch, stood: pipeline.stood, told: pipeline.told, requestTime: run.requestTime,
            responseTime: WallClock.milliseconds(), microseconds: Int(seconds * 1e6))
        arrived(standing, footprint: count * Self.footprint)
    }

    /// A server has answered with what was not about what was asked: it gets one request at a time.
    func distrust(_ batch: RevalidationBatch) {
        if let url = batch.urls.first { lane.hosts[queue.number(of: url)]?.depth.broke() }
    }

    /// Takes away what `owner` has asked for.
    func abandonRevalidations(of owner: (ObjectIdentifier) -> Bool) {
        for (host, batch, count) in lane.remove(of: owner) {
            queue.removeOthers(count, host)
            batch.settle(batch, .left(count))
        }
        for run in lane.underWay.values where owner(run.batch.owner) {
            run.isAbandoned = true
            client.assumeIsolated { $0.cancel(run.pipeline) }
        }
    }
}
