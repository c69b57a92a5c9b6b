import CurlHTTP
import HTTPTypes

/// What asking the origin has brought.
enum Upshot: Sendable {
    /// - Parameters:
    ///   - isShared: others who ask the same may have it too.
    ///   - origin: what the origin's own status was: 304 where the response is the stored one, renewed.
    case response(StoredResponse, ResponseBody, asked: HTTPFields, isShared: Bool, isStored: Bool, origin: Int)
    case failure(TransferError)
}

/// The way to the origin. Requests that ask the same at the same time are one (RFC 9111 §4 calls it collapsing), and no more
/// than `limit` are on their way.
actor Upstream {
    private nonisolated let client: HTTPClient
    private let limit: Int
    private var inFlight = 0
    private var queue: [CheckedContinuation<Void, Never>] = []
    private var flights: [String: Task<Upshot, Never>] = [:]
    /// How many have waited for what another asked.
    private(set) var joined = 0

    init(client: HTTPClient, limit: Int) {
        self.client = client
        self.limit = limit
    }

    /// One request and its answer, both without the fields of the connection. - Throws: `TransferError`.
    func exchange(
        _ url: HTTPURL, _ request: MirrorRequest, interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws(TransferError) -> (response: StoredResponse, body: ResponseBody) {
        await enter()
        defer { leave() }
        let relay = TransferRequest.Relay(method: request.method, body: request.body, onInterim: interim)
        let requestTime = WallClock.milliseconds()
        do {
            let transfer = try await client.response(
                for: TransferRequest(url: url, headerFields: request.fields, relay: relay))
            let responseTime = WallClock.milliseconds()
            var fields = transfer.head.headerFields.endToEnd
            // RFC 9110 §6.6.1.
            if !fields.contains(.date) { fields[.date] = HTTPDate.text(responseTime / 1_000) }
            let response = StoredResponse(
                status: transfer.head.status.code, fields: fields, requestTime: requestTime, responseTime: responseTime)
            return (response, transfer.body)
        } catch let error as TransferError {
            throw error
        } catch {
            throw TransferError(.cancelled, url: url.string, detail: "\(error)")
        }
    }

    /// The same for a body of any size: it comes through what is given back. - Throws: `TransferError`.
    func pass(
        _ url: HTTPURL, _ request: MirrorRequest
    ) async throws(TransferError) -> (head: HTTPResponse, body: PassingBody) {
        let pipe = BodyPipe()
        let relay = TransferRequest.Relay(method: request.method, body: request.body)
        await client.start(TransferRequest(url: url, headerFields: request.fields, relay: relay), into: pipe)
        return (try await pipe.head(), PassingBody(pipe: pipe))
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

    private func enter() async {
        if inFlight < limit { inFlight += 1 } else { await withCheckedContinuation { queue.append($0) } }
    }

    private func leave() {
        // Whoever is next takes the place that has become free.
        if queue.isEmpty { inFlight -= 1 } else { queue.removeFirst().resume() }
    }

    nonisolated func close() { client.loop.shutdown() }
}
