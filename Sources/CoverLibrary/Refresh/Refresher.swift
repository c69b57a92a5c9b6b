import CoverCache
import CurlHTTP
import Platform
import Synchronization

/// Leads the entries that are due past their servers. One run.
final class Refresher: Sendable {
    private let library: LibraryAPI
    private let request: RefreshRequest
    private let progress: PrefetchProgress
    /// The budget is spent.
    private let isSpent = Atomic(false)
    /// So many entries are read from the index at a time.
    private static let chunk = 1_024
    private static let countingTime = Duration.milliseconds(50)

    init(_ library: LibraryAPI, _ request: RefreshRequest, _ progress: PrefetchProgress) {
        self.library = library
        self.request = request
        self.progress = progress
    }

    /// Cancelling the task stops within 100 ms; what servers have said by then is kept.
    /// - Throws: `LibraryError`: the index cannot be read.
    func run() async throws -> PrefetchSummary {
        progress.begin()
        await library.flushUsage()
        let timer = request.maximumTime.map { time in
            Task {
                guard (try? await Task.sleep(for: time)) != nil else { return }
                spend()
            }
        }
        try await withTaskCancellationHandler {
            do {
                try await hasBudget ? askMostWorthwhile() : askAll()
            } catch {
                timer?.cancel()
                if progress.summary.requested == 0 { throw LibraryError(error) }
                stop("\(CacheError(error))")
            }
            await progress.drained()
        } onCancel: {
            progress.cancel()
            abandon()
        }
        timer?.cancel()
        // What the log of the index has taken meanwhile is given back: a refresh leaves the cache no larger.
        try await library.maintain { try $0.checkpoint() }
        return progress.end()
    }

    private var hasBudget: Bool {
        request.maximumRequests != nil || request.maximumBytes != nil || request.maximumTime != nil
    }

    private var isOver: Bool { Task.isCancelled || progress.isEnding || isSpent.load(ordering: .acquiring) }

    /// Every entry that is due, in the order of storing.
    private func askAll() async throws {
        let choice = RefreshChoice(request, now: WallClock.milliseconds())
        var (row, last) = (Int64(0), try library.reader.lastRow())
        var stopped: ContinuousClock.Instant?
        while row < last {
            var due: [CachedEntry] = []
            due.reserveCapacity(Self.chunk)
            row = try library.reader.entries(after: row, through: last, limit: Self.chunk) { entry in
                if entry.isCover, choice.isDue(RefreshEntry(entry)) { due.append(entry) }
            }
            if !isOver {
                await ask(due)
                continue
            }
            // What is left is counted, but who stops it does not wait for that.
            progress.leave(due.count)
            stopped = stopped ?? .now
            if let stopped, .now - stopped > Self.countingTime { return }
        }
        progress.listEnded()
    }

    /// The entries that are due, those most worthwhile first.
    private func askMostWorthwhile() async throws {
        let choice = RefreshChoice(request, now: WallClock.milliseconds())
        var due: [(row: Int64, worth: Double)] = []
        let clock = try library.reader.clock()
        try library.reader.entries { cached in
            let entry = RefreshEntry(cached)
            guard cached.isCover, choice.isDue(entry) else { return }
            due.append((cached.row.id, choice.worth(entry, clock: clock)))
        }
        due.sort { ($0.worth, $1.row) > ($1.worth, $0.row) }
        let most = min(request.maximumRequests ?? .max, due.count)
        progress.leave(due.count - most)
        var rest = due[..<most]
        defer { progress.listEnded() }
        while !rest.isEmpty {
            if isOver { return progress.leave(rest.count) }
            // Neighbours in the index lie on the same pages.
            let rows = rest.prefix(Self.chunk).map(\.row).sorted()
            rest = rest.dropFirst(Self.chunk)
            await ask(try library.reader.entries(rows: rows))
        }
    }

    private func ask(_ entries: [CachedEntry]) async {
        if entries.isEmpty { return }
        await progress.ready()
        progress.request(entries.count)
        do {
            let (batches, others) = try sorted(entries)
            let scheduler = try await library.scheduler()
            await scheduler.revalidate(batches)
            await scheduler.submit(others)
        } catch {
            stop("\(CacheError(error))")
            progress.forget(entries.count)
        }
        // What came between the look above and the submission found nothing to abandon.
        if isOver { abandon() }
    }

    /// Entries that can be asked for many at a time, by origin, and those that are asked for one by one.
    private func sorted(
        _ entries: [CachedEntry]
    ) throws -> (batches: [RevalidationBatch], others: [(url: HTTPURL, waiter: Waiter)]) {
        let urls = try entries.map { try HTTPURL($0.metadata.key) }
        var (batches, others): ([Substring: RevalidationBatch], [(HTTPURL, Waiter)]) = ([:], [])
        var last: (origin: Substring, batch: RevalidationBatch)?
        let memory = library.recall(urls)
        for index in entries.indices {
            let url = urls[index]
            if !url.isHTTPS, memory[index].place == nil, memory[index].guess == nil {
                let origin = url.origin
                let batch = last?.origin == origin ? last?.batch : batches[origin]
                last = (origin, batch ?? makeBatch(url))
                if batch == nil { batches[origin] = last?.batch }
                if last?.batch.add(entries[index], url) == true { continue }
            }
            others.append((url, waiter(entries[index], Revalidation(entries[index]), memory[index])))
        }
        return (batches.values.filter { !$0.entries.isEmpty }, others)
    }

    private func makeBatch(_ url: HTTPURL) -> RevalidationBatch {
        RevalidationBatch(
            to: url, userAgent: library.configuration.userAgent, owner: ObjectIdentifier(self),
            settle: { [self] batch, outcome in settle(batch, outcome) },
            waiter: { [self] entry in waiter(entry, Revalidation(entry), Recollection()) })
    }

    private func settle(_ batch: RevalidationBatch, _ outcome: RevalidationBatch.Outcome) {
        switch outcome {
        case .stand(let numbers, _) where !progress.isObserved: progress.recordRevalidated(numbers.count)
        case .stand(let numbers, let microseconds):
            for number in numbers {
                let entry = batch.entries[number]
                record(.revalidated, entry, microseconds) { outcome in
                    outcome.digest = entry.digest.description
                    outcome.bytes = entry.bytes
                }
            }
        case .differ(let numbers):
            let wanted = numbers.map { number in
                (url: batch.urls[number], waiter: waiter(batch.entries[number], nil, Recollection()))
            }
            if isOver { return progress.putOff(wanted.count) }
            Task {
                // It has started: the batch came from it.
                guard let scheduler = library.schedulerIfStarted else { return progress.putOff(wanted.count) }
                await scheduler.distrust(batch)
                await scheduler.submit(wanted)
                if isOver { abandon() }
            }
        case .failed(let numbers, let failure):
            stop(failure.detail)
            for number in numbers {
                record(.failed, batch.entries[number]) { outcome in
                    outcome.failure = failure
                    outcome.failure?.url = outcome.url
                }
            }
        case .left(let count): progress.putOff(count)
        }
    }

    private func record(
        _ kind: CoverOutcome.Kind, _ entry: CachedEntry, _ microseconds: Int = 0, _ add: (inout CoverOutcome) -> Void
    ) {
        var outcome = CoverOutcome(
            kind: kind, url: entry.metadata.key, bytes: 0, milliseconds: Double(microseconds) / 1_000)
        add(&outcome)
        progress.record(outcome)
    }

    private func waiter(_ entry: CachedEntry, _ stored: Revalidation?, _ remembered: Recollection) -> Waiter {
        let url = entry.metadata.key
        return Waiter(owner: ObjectIdentifier(self), stored: stored, remembered: remembered) {
            [self] delivery in
            let milliseconds = Double(delivery.microseconds) / 1_000
            switch delivery.result {
            case .success(let stored):
                progress.record(
                    CoverOutcome(
                        kind: stored.isConfirmed ? .revalidated : delivery.isJoined ? .joined : .downloaded, url: url,
                        digest: stored.digest.description, bytes: stored.bytes, milliseconds: milliseconds,
                        isDuplicate: stored.isDuplicate))
                if let most = request.maximumBytes, progress.summary.bytes >= most { spend() }
            // The run ends, which says nothing about the cover.
            case .failure(let failure) where failure.kind == .cancelled: progress.putOff()
            case .failure(var failure):
                failure.url = url
                if failure.kind == .cache { stop(failure.detail) }
                progress.record(
                    CoverOutcome(kind: .failed, url: url, bytes: 0, milliseconds: milliseconds, failure: failure))
            }
        }
    }

    private func spend() {
        isSpent.store(true, ordering: .releasing)
        abandon()
    }

    private func stop(_ reason: String) {
        if progress.stop(reason) { abandon() }
    }

    private func abandon() { library.abandon(ObjectIdentifier(self)) }
}

extension RefreshEntry {
    init(_ cached: CachedEntry) {
        self.init(
            url: cached.metadata.key, storedAt: cached.metadata.storedAt, validatedAt: cached.validatedAt,
            freshUntil: cached.metadata.freshUntil, lastUsed: cached.lastUsed, fields: cached.metadata.fields)
    }
}

extension EntryMetadata {
    /// The name of a line among the fields that no server can send: names of fields hold no space.
    static let triedName = "tried at"

    /// Takes down, among the fields, when its server failed to answer. Gone once it has answered.
    mutating func markTried(at now: Int64) {
        let lines = fields.split(separator: "\n").filter { !$0.hasPrefix(Self.triedName) }
        fields = lines.map { $0 + "\n" }.joined() + "\(Self.triedName): \(now)\n"
    }
}
