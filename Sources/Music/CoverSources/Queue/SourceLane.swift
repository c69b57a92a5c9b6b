import Platform
import Synchronization

/// The requests to one source: one caller at a time, within its rate, also counting those of other processes.
actor SourceLane {
    private let name: SourceName
    private let base: String
    private let rate: RateRule?
    private let key: SourceKey?
    private let rates: SourceRates?
    private let clock: SourceClock
    private let notices: SourceNotices
    private let transport: SourceTransport
    private var limiter: SourceLimiter
    /// The callers so far, also those that wait, and what they have requested.
    private var (callers, requests) = (0, 0)
    /// A caller has the source.
    private var isBusy = false
    /// Callers that wait for it, the first first.
    private var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var lastWaiter = 0
    /// How often one thing is asked for, at a source that throttles.
    private static let maximumAttempts = 4

    init(
        _ source: CoverSource, rates: SourceRates?, clock: SourceClock, notices: SourceNotices,
        transport: @escaping SourceTransport
    ) {
        (name, base, rate, key) = (source.name, source.base, source.rate, source.key)
        (self.rates, self.clock, self.notices, self.transport) = (rates, clock, notices, transport)
        limiter = SourceLimiter(source.rate)
    }

    /// Why the source gets no more requests in this run; nil if it does.
    var abandonment: String? { limiter.abandonment }

    /// How long the callers that wait take, and more that will come; nil for a source without a rate.
    func time(for more: Double) -> Duration? {
        guard let rate, limiter.abandonment == nil, callers > 0 else { return nil }
        let requestsByCaller = max(1, Double(requests) / Double(max(1, callers - waiters.count)))
        return rate.spacing * ((Double(waiters.count) + more) * requestsByCaller)
    }

    // MARK: Requests

    /// Sends a request, again while the source throttles, and once after a broken connection. The caller has the source, so all others wait
    /// meanwhile.
    /// - Parameter more: The requests that are to come.
    func response(
        to url: String, more: Int, _ read: @Sendable (SourceResponse) -> SourceReading
    ) async throws -> SourceReading {
        var last: SourceReading?
        var isRepeated = false
        for _ in 0..<Self.maximumAttempts {
            if let last, limiter.abandonment != nil { return last }
            try await waitForTurn(more)
            requests += 1
            let result: Result<SourceResponse, any Error>
            do {
                result = .success(try await transport(url, key))
            } catch {
                result = .failure(error)
            }
            try Task.checkCancellation()
            let reading = Self.read(result, read)
            last = reading
            note(reading, retryAfter: (try? result.get())?.retryAfter)
            switch (reading, result) {
            case (.throttled, _): continue
            case (.failed, .failure) where !isRepeated: isRepeated = true
            default: return reading
            }
        }
        return last ?? .failed("not asked")
    }

    private static func read(
        _ result: Result<SourceResponse, any Error>, _ read: (SourceResponse) -> SourceReading
    ) -> SourceReading {
        switch result {
        case .success(let response) where response.body.count > SourceResponse.maximumSize:
            .failed("the answer is longer than \(ByteCount(SourceResponse.maximumSize))")
        case .success(let response): read(response)
        case .failure(let error): .failed("\(error)")
        }
    }

    private func note(_ reading: SourceReading, retryAfter: Duration?) {
        let now = clock.now()
        limiter.didEnd(at: now)
        switch reading {
        case .found, .notFound: limiter.didAnswer()
        case .throttled: limiter.didThrottle(at: now, retryAfter: retryAfter)
        case .failed(let detail): limiter.didFail(at: now, detail)
        case .refused(let detail):
            limiter.abandon("it refuses the requests: \(detail)" + (key.map { "; see to $\($0.variable)" } ?? ""))
        }
        if let abandonment = limiter.abandonment {
            notices.tell("\(name) given up", "\(name.title) is not asked any more in this run: \(abandonment)")
        }
    }

    private func waitForTurn(_ more: Int) async throws {
        repeat {
            while case let delay = limiter.delay(at: clock.now(), more: more), delay > .zero {
                try await clock.sleep(delay)
            }
        } while try await waitForOthers()
        try Task.checkCancellation()
        limiter.didSend(at: clock.now())
    }

    /// Waits for the requests of other processes and of earlier runs. - Returns: Whether it has waited.
    private func waitForOthers() async throws -> Bool {
        guard let rates, let rate else { return false }
        let delay: Duration?
        do throws(SourceMemoryError) {
            delay = try await rates.reserve(base, rate, at: clock.timeOfDay())
        } catch {
            notices.tell("rates", "\(error)")
            return false
        }
        guard let delay else { return false }
        // A step of the wall clock must not stop the run for longer.
        try await clock.sleep(min(delay, rate.interval))
        return true
    }

    // MARK: One caller at a time

    /// Waits until the caller has the source. - Returns: false if its task was cancelled.
    func enter() async -> Bool {
        if Task.isCancelled { return false }
        callers += 1
        guard isBusy else {
            isBusy = true
            return true
        }
        lastWaiter += 1
        let id = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiters.append((id, $0)) }
        } onCancel: {
            Task { await cancelWaiter(id) }
        }
    }

    private func cancelWaiter(_ id: Int) {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
        waiters.remove(at: index).continuation.resume(returning: false)
    }

    /// Hands the source to the next caller.
    func leave() {
        if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().continuation.resume(returning: true) }
    }
}

/// What a person is told, once for each subject.
final class SourceNotices: Sendable {
    private let noticed = Mutex<Set<String>>([])
    private let notice: @Sendable (String) -> Void

    init(_ notice: @escaping @Sendable (String) -> Void) { self.notice = notice }

    func tell(_ subject: String, _ message: String) {
        if noticed.withLock({ $0.insert(subject).inserted }) { notice(message) }
    }
}
