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
            let urls = try entries.map { try HTTPURL($0.metadata.key) }
            let hints = library.hints(for: urls)
            let requests = entries.indices.map { (url: urls[$0], waiter: waiter(entries[$0], hints[$0])) }
            try await library.scheduler().submit(requests)
        } catch {
            stop("\(CacheError(error))")
            progress.forget(entries.count)
        }
        // What came between the look above and the submission found nothing to abandon.
        if isOver { abandon() }
    }

    private func waiter(_ entry: CachedEntry, _ remembered: Hints) -> Waiter {
        let url = entry.metadata.key
        return Waiter(owner: ObjectIdentifier(self), stored: Revalidation(entry), remembered: remembered) {
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
