import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// What asking the origin has brought.
enum Upshot: Sendable {
    /// - Parameters:
    ///   - isShared: others who ask the same may have it too.
    ///   - origin: what the origin's own status was: 304 where the response is the stored one, renewed.
    case response(StoredResponse, ResponseBody, asked: HTTPFields, isShared: Bool, isStored: Bool, origin: Int)
    case failure(OriginFailure)
}

/// Why there is no answer of the origin.
enum OriginFailure: Error, Sendable {
    case transfer(TransferError)
    /// It was not asked.
    case closed(OriginGate.Closed)
}

/// The way to the origin. Requests that ask the same at the same time are one (RFC 9111 §4 calls it collapsing), and no more
/// than `limit` are on their way.
actor Upstream {
    private nonisolated let client: HTTPClient
    private let limit: Int
    private let clock: @Sendable () -> OriginGate.Instant
    private var gate = OriginGate()
    private var inFlight = 0
    private var queue: [CheckedContinuation<Void, Never>] = []
    private var flights: [String: Task<Upshot, Never>] = [:]
    /// How many have waited for what another asked.
    private(set) var joined = 0

    init(
        client: HTTPClient, limit: Int, clock: @escaping @Sendable () -> OriginGate.Instant = { ContinuousClock.now }
    ) {
        self.client = client
        self.limit = limit
        self.clock = clock
    }

    /// The origin has failed lately, or wants to be left alone: who may be given a stale answer need not wait for it.
    var isDoubtful: Bool { gate.isDoubtful(at: clock()) }

    /// One request and its answer, both without the fields of the connection.
    func exchange(
        _ url: HTTPURL, _ request: MirrorRequest, interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws(OriginFailure) -> (response: StoredResponse, body: ResponseBody) {
        let job = try await enter()
        defer { leave() }
        let relay = TransferRequest.Relay(method: request.method, body: request.body, onInterim: interim)
        let requestTime = WallClock.milliseconds()
        do {
            let transfer = try await client.response(
                for: TransferRequest(url: url, headerFields: request.fields, relay: relay))
            let responseTime = WallClock.milliseconds()
            answered(transfer.head)
            var fields = transfer.head.headerFields.endToEnd
            // RFC 9110 §6.6.1.
            if !fields.contains(.date) { fields[.date] = HTTPDate.text(responseTime / 1_000) }
            let response = StoredResponse(
                status: transfer.head.status.code, fields: fields, requestTime: requestTime, responseTime: responseTime)
            return (response, transfer.body)
        } catch {
            throw failed(job, error as? TransferError ?? TransferError(.cancelled, url: url.string, detail: "\(error)"))
        }
    }

    /// The same for a body of any size: it comes through what is given back. - Parameter whole: told its length at the end.
    func pass(
        _ url: HTTPURL, _ request: MirrorRequest, whole: @escaping @Sendable (HTTPResponse, Int) -> Void
    ) async throws(OriginFailure) -> (head: HTTPResponse, body: PassingBody) {
        let job = try await enter()
        let pipe = BodyPipe()
        let relay = TransferRequest.Relay(method: request.method, body: request.body)
        await client.start(TransferRequest(url: url, headerFields: request.fields, relay: relay), into: pipe)
        do throws(TransferError) {
            let head = try await pipe.head()
            answered(head)
            // The place is taken until the body has passed.
            let body = PassingBody(pipe: pipe) {
                whole(head, $0)
            } over: {
                Task { await self.leave() }
            }
            return (head, body)
        } catch {
            leave()
            throw failed(job, error)
        }
    }

    private func answered(_ head: HTTPResponse) {
        gate.answered(
            status: head.status.code, head.headerFields, at: clock(), time: WallClock.milliseconds() / 1_000)
    }

    private func failed(_ job: JobID, _ error: TransferError) -> OriginFailure {
        switch error.kind {
        case .nameResolution, .connect, .tls, .timeout: gate.failed(job, at: clock())
        // A connection that breaks is there, at least: it may be about one page, and nobody has waited for it.
        case .broken, .cancelled: gate.dropped(job)
        // It has answered, if not well.
        case .tooLarge, .truncated, .tooManyRedirects, .refusedAddress:
            gate.answered(status: 0, [:], at: clock(), time: 0)
        }
        return .transfer(error)
    }

    /// What `bring` brings, or what the same brings for another who asked before.
    func upshot(
        of key: String, _ bring: @escaping @Sendable () async -> Upshot
    ) async -> (upshot: Upshot, isCollapsed: Bool) {
        if let flight = flights[key] {
            joined += 1
            return (await flight.value, true)
        }
        return (await start(key, bring).value, false)
    }

    /// Has `bring` run, unless the same is under way already; nobody waits for it.
    func begin(_ key: String, _ bring: @escaping @Sendable () async -> Upshot) {
        if flights[key] == nil { _ = start(key, bring) }
    }

    private func start(_ key: String, _ bring: @escaping @Sendable () async -> Upshot) -> Task<Upshot, Never> {
        // A task of its own: a client that goes away takes nothing from the others.
        let flight = Task {
            let upshot = await bring()
            flights[key] = nil
            return upshot
        }
        flights[key] = flight
        return flight
    }

    /// Takes a place, as soon as there is one.
    private func enter() async throws(OriginFailure) -> JobID {
        if let closed = gate.closed(at: clock()) { throw .closed(closed) }
        if inFlight < limit { inFlight += 1 } else { await withCheckedContinuation { queue.append($0) } }
        do throws(OriginGate.Closed) {
            return try gate.begin(at: clock())
        } catch {
            // The origin has failed meanwhile: whoever waits behind is told so at once, too.
            leave()
            throw .closed(error)
        }
    }

    private func leave() {
        // Whoever is next takes the place that has become free.
        if queue.isEmpty { inFlight -= 1 } else { queue.removeFirst().resume() }
    }

    nonisolated func close() { client.loop.shutdown() }
}
