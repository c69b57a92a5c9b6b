import HTTPCaching
import HTTPTypes
import Platform
import Synchronization
import WebServer

/// Answers an origin's requests: it waits, and sends what `ResponsePlanner` decides.
final class OriginResponder: Responder {
    let options: OriginOptions
    let metrics: OriginMetrics
    let gate = ResponseGate()
    private let planner: ResponsePlanner
    /// Nil if the total bandwidth is unlimited.
    private let bandwidth: Bandwidth?

    init(_ options: OriginOptions) {
        self.options = options
        planner = ResponsePlanner(options)
        metrics = OriginMetrics(countPaths: options.countPaths)
        bandwidth = options.totalBytesPerSecond.map { Bandwidth(bytesPerSecond: $0) }
    }

    func admit(_ request: Request) -> Admission {
        .accept(
            limit: 1 << 20, above: { Response(OriginResponse.text(413, "a request has at most 1 MiB\n")) },
            answer: { [self] in answer($0) })
    }

    var busy: Response { Response(OriginResponse.text(503, "too much is sent at a time\n")) }

    func didAccept() { metrics.connections.add(1) }

    private func answer(_ request: Request) -> Answer {
        let path = request.path
        if path == "/counts" {
            return .now(Response(OriginResponse.text(200, metrics.json, type: "application/json")))
        }
        let number = metrics.requestStarted(path: path)
        let exchange = InFlight(metrics)
        var planned = plan(request, number: number)
        planned.headers.append(HTTPField(name: .date, value: HTTPDate.text(WallClock.milliseconds() / 1_000)))
        let response = planned
        if !mustWait(response) { return .now(made(response, exchange, request.client)) }
        return .later { [self] in
            await request.client.whileConnected { [self] in
                await wait(response)
                return made(response, exchange, request.client)
            }
        }
    }

    private func plan(_ request: Request, number: Int) -> OriginResponse {
        if let maximum = options.maximumInFlight, metrics.inFlight.value > maximum {
            metrics.rejected.add(1)
            return .text(429, "more than \(maximum) requests are in flight\n")
        }
        return planner.response(to: request, number: number)
    }

    // MARK: Waiting

    private func mustWait(_ response: OriginResponse) -> Bool {
        if case .never = response.body { return true }
        return response.delay > .zero || response.isHeld || bandwidth != nil
    }

    /// Returns early if the client leaves.
    private func wait(_ response: OriginResponse) async {
        if response.delay > .zero { try? await Task.sleep(for: response.delay) }
        if let bandwidth, case .bytes(let bytes, _) = response.body {
            try? await Task.sleep(for: bandwidth.reserve(bytes.count))
        }
        if response.isHeld { await gate.opened() }
        if case .never = response.body { try? await Task.sleep(for: .seconds(1 << 30)) }
    }

    // MARK: Bodies

    /// - Parameter exchange: Ends when the response is on its way, or with its last piece if it is paced.
    private func made(_ planned: OriginResponse, _ exchange: InFlight, _ client: ClientPresence) -> Response {
        var response = Response(planned)
        switch planned.body {
        case .none, .bytes(_, nil), .reset, .close, .never: exchange.end()
        case .bytes(let bytes, let rate?):
            response.body = .stream(
                paced(bytes, perSecond: rate, isEndless: false, exchange), count: planned.isChunked ? nil : bytes.count)
        case .bytesThenClose: client.onLeave { exchange.end() }
        case .endless(let bytes, let rate?):
            response.body = .stream(paced(bytes, perSecond: rate, isEndless: true, exchange))
        case .endless(let bytes, nil):
            response.body = .pieces(count: nil) { offset, most in
                offset < bytes.count
                    ? Array(bytes[offset..<min(offset + most, bytes.count)]) : .filler(most)
            }
            client.onLeave { exchange.end() }
        }
        return response
    }

    /// Sends bytes at a constant rate, a piece every twentieth of a second. Times count from the start, so that late timers do not
    /// add up.
    private func paced(_ bytes: [UInt8], perSecond rate: Int, isEndless: Bool, _ exchange: InFlight) -> BodyStream {
        let stream = BodyStream()
        Task {
            let start = ContinuousClock.now
            let length = max(1, min(rate / 20, 1 << 20))
            var sent = 0
            while isEndless || sent < bytes.count {
                let end = isEndless ? sent + length : min(sent + length, bytes.count)
                try? await Task.sleep(until: start + .seconds(Double(end) / Double(rate)))
                let piece = Array(bytes[min(sent, bytes.count)..<min(end, bytes.count)])
                guard await stream.write(piece + .filler(end - sent - piece.count)) else {
                    break
                }
                sent = end
            }
            exchange.end()
            stream.finish()
        }
        return stream
    }
}

/// A request that counts as in flight until it ends.
private final class InFlight: Sendable {
    private let metrics: OriginMetrics
    private let hasEnded = Atomic(false)

    init(_ metrics: OriginMetrics) { self.metrics = metrics }

    /// Only the first call counts.
    func end() { if !hasEnded.exchange(true, ordering: .relaxed) { metrics.requestEnded() } }

    deinit { end() }
}

/// Holds responses until it opens, once and for all.
final class ResponseGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func opened() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }
}

extension Response {
    /// What a planned response sends at once.
    fileprivate init(_ planned: OriginResponse) {
        self.init(status: planned.status, headers: planned.headers)
        switch planned.body {
        case .bytes(let bytes, _):
            // Without a length, the body has chunks.
            body = planned.isChunked ? .unsized(bytes) : .bytes(bytes)
        case .bytesThenClose(let bytes):
            body = .bytes(bytes)
            announcedLength = planned.headers[.contentLength].flatMap { Int($0) }
        case .reset: closure = .reset
        case .close: closure = .end
        case .none, .endless, .never: break
        }
    }
}

/// Counts an origin's connections and requests.
final class OriginMetrics: Sendable {
    let connections = Counter()
    let requests = Counter()
    let inFlight = Counter()
    /// Requests answered 429 because of `OriginOptions.maximumInFlight`.
    let rejected = Counter()
    /// Requests by path; nil unless `OriginOptions.countPaths` is set.
    let paths: KeyedCounter?
    private let peak = Atomic(0)

    init(countPaths: Bool) { paths = countPaths ? KeyedCounter() : nil }

    var peakInFlight: Int { peak.load(ordering: .relaxed) }

    /// The counters as one JSON object, for benchmarks.
    var json: String {
        #"{"requests":\#(requests.value),"overruns":\#(rejected.value),"inFlight":\#(inFlight.value),"#
            + #""peakInFlight":\#(peakInFlight),"connections":\#(connections.value)}"#
    }

    /// Records the start of a request. Returns its number, from 1.
    func requestStarted(path: @autoclosure () -> String) -> Int {
        peak.max(inFlight.add(1), ordering: .relaxed)
        paths?.increment(path())
        return requests.add(1)
    }

    /// Records that a request's response is written or abandoned.
    func requestEnded() { inFlight.add(-1) }
}

/// A lock-free counter.
struct Counter: ~Copyable {
    private let atomic = Atomic(0)

    var value: Int { atomic.load(ordering: .relaxed) }

    /// Returns the new value.
    @discardableResult
    func add(_ count: Int) -> Int { atomic.add(count, ordering: .relaxed).newValue }
}

/// Counts events by key. Every key stays in memory.
final class KeyedCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Returns the key's count, this event included.
    @discardableResult
    func increment(_ key: String) -> Int {
        counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 0]
        }
    }

    func count(_ key: String) -> Int { counts.withLock { $0[key, default: 0] } }
}

/// A bandwidth that all response bodies share: they are sent one after the other.
final class Bandwidth: Sendable {
    private let bytesPerSecond: Int
    private let freeFrom = Mutex<ContinuousClock.Instant?>(nil)

    init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    /// Reserves the time for `bytes`. Returns the time from now until they are sent.
    func reserve(_ bytes: Int) -> Duration {
        let now = ContinuousClock.now
        return freeFrom.withLock { freeFrom in
            let end = max(freeFrom ?? now, now) + .seconds(Double(bytes) / Double(bytesPerSecond))
            freeFrom = end
            return end - now
        }
    }
}
