import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform
import ServerChannels

/// A response that was fetched from the origin, or validated by it.
struct FetchedResponse: Sendable {
    var response: StoredResponse
    var body: [UInt8]
    /// The fields of the request that it answers.
    var requestFields: HTTPFields
    /// Whether it may answer other requests too.
    var isShareable: Bool
    var isStored: Bool
    /// The origin's own status: 304 for a validated response.
    var originStatus: Int
    var held: ByteBudget.Reservation?
}

/// A response of the origin, without hop-by-hop fields.
struct OriginResponse: Sendable {
    var response: StoredResponse
    var body: [UInt8]
    /// Holds the memory of `body`.
    var held: ByteBudget.Reservation?
}

typealias FetchOutcome = Result<FetchedResponse, OriginFailure>

/// Why there is no response of the origin.
enum OriginFailure: Error, Sendable {
    case transfer(TransferError)
    /// No request was sent.
    case closed(OriginGate.Closed)
    /// There is no memory for the body.
    case busy
}

/// Sends requests to the origin. Concurrent requests for one URL share a fetch (RFC 9111 section 4: collapsing), and the number in
/// flight is limited. Streamed responses, which last as long as their clients take, occupy at most half of it.
actor OriginClient {
    private nonisolated let client: HTTPClient
    private let limit: Int
    /// Of the bodies that are held for clients.
    nonisolated let responseBytes: ByteBudget
    private var streamLimit: Int { max(1, limit / 2) }
    private let clock: @Sendable () -> OriginGate.Instant
    private var gate = OriginGate()
    private var inFlight = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var streams = 0
    private var streamsWaiting: [CheckedContinuation<Void, Never>] = []
    private var fetches: [String: Task<FetchOutcome, Never>] = [:]
    /// How many requests have shared another request's fetch.
    private(set) var collapsedCount = 0

    init(
        client: HTTPClient, limit: Int, responseBytes: ByteBudget,
        clock: @escaping @Sendable () -> OriginGate.Instant = { ContinuousClock.now }
    ) {
        self.client = client
        self.responseBytes = responseBytes
        self.limit = limit
        self.clock = clock
    }

    /// Whether the origin has failed or must not be asked for the URL now.
    func mayBeUnreachable(_ url: String) -> Bool { gate.mayBeUnreachable(at: clock(), url) }

    // MARK: Requests

    /// Sends a request and receives its response, without hop-by-hop fields.
    /// - Parameter interim: called with each 1xx response.
    func send(
        _ request: MirrorRequest, to url: HTTPURL, interim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws(OriginFailure) -> OriginResponse {
        let job = try await acquireSlot(for: url)
        defer { releaseSlot() }
        let relay = TransferRequest.Relay(method: request.method, body: request.body, onInterim: interim)
        let requestTime = WallClock.milliseconds()
        let transfer: TransferResponse
        do throws(TransferError) {
            transfer = try await client.response(
                for: TransferRequest(url: url, headerFields: request.fields, relay: relay))
            try check(transfer.head, answers: request, url)
        } catch {
            throw didFail(job, error, url)
        }
        let responseTime = WallClock.milliseconds()
        didRespond(transfer.head, url)
        // Waiting with the slot keeps further bodies from arriving.
        guard let held = await responseBytes.reserve(transfer.body.count) else { throw .busy }
        var fields = transfer.head.headerFields.endToEnd
        // A recipient with a clock adds a missing `Date` (RFC 9110 section 6.6.1).
        if !fields.contains(.date) { fields[.date] = HTTPDate.text(responseTime / 1_000) }
        let response = StoredResponse(
            status: transfer.head.status.code, fields: fields, requestTime: requestTime, responseTime: responseTime)
        return OriginResponse(response: response, body: transfer.body, held: held)
    }

    /// A final status is one of 200 to 599 (RFC 9110 section 15), and a 304 answers a condition (section 15.4.5).
    private func check(
        _ head: HTTPResponse, answers request: MirrorRequest, _ url: HTTPURL
    ) throws(TransferError) {
        let status = head.status.code
        let isUnasked =
            status == 304
            && !((request.method == .get || request.method == .head)
                && (request.fields.contains(.ifNoneMatch) || request.fields.contains(.ifModifiedSince)))
        if !(200..<600).contains(status) || isUnasked {
            let detail = isUnasked ? "it is a 304, and no condition was sent" : "its status, \(status), is none of HTTP"
            throw TransferError(.broken, url: url.string, detail: detail)
        }
    }

    /// Sends a request and streams its response, whatever its length.
    /// - Parameter didComplete: called with the length of the complete body in bytes.
    func stream(
        _ request: MirrorRequest, to url: HTTPURL, didComplete: @escaping @Sendable (HTTPResponse, Int) -> Void
    ) async throws(OriginFailure) -> (head: HTTPResponse, body: StreamedBody) {
        await acquireStream()
        let job: JobID
        do throws(OriginFailure) {
            job = try await acquireSlot(for: url)
        } catch {
            releaseStream()
            throw error
        }
        let stream = ResponseStream()
        let relay = TransferRequest.Relay(method: request.method, body: request.body)
        await client.start(TransferRequest(url: url, headerFields: request.fields, relay: relay), into: stream)
        do throws(TransferError) {
            let head = try await stream.head()
            try check(head, answers: request, url)
            didRespond(head, url)
            // The slot is occupied until the body has been streamed.
            let body = StreamedBody(stream: stream) {
                didComplete(head, $0)
            } didEnd: {
                Task { await self.endStream() }
            }
            return (head, body)
        } catch {
            endStream()
            throw didFail(job, error, url)
        }
    }

    private func didRespond(_ head: HTTPResponse, _ url: HTTPURL) {
        gate.didRespond(
            url.string, status: head.status.code, head.headerFields, at: clock(),
            time: WallClock.milliseconds() / 1_000)
    }

    private func didFail(_ job: JobID, _ error: TransferError, _ url: HTTPURL) -> OriginFailure {
        switch error.kind {
        case .nameResolution, .connect, .tls, .timeout: gate.didFail(job, at: clock())
        // The origin accepted the connection, or no fault is its own. The failure may concern this URL only, and no client has waited
        // for a timeout.
        case .broken, .cancelled, .outOfResources: gate.didCancel(job)
        // The origin has responded.
        case .tooLarge, .truncated, .coding, .tooManyRedirects, .refusedAddress:
            gate.didRespond(url.string, status: 0, [:], at: clock(), time: 0)
        }
        return .transfer(error)
    }

    // MARK: Collapsing

    /// Runs `fetch`, or waits for the fetch of the same key that is running.
    func outcome(
        of key: String, _ fetch: @escaping @Sendable () async -> FetchOutcome
    ) async -> (outcome: FetchOutcome, isCollapsed: Bool) {
        if let running = fetches[key] {
            collapsedCount += 1
            return (await running.value, true)
        }
        return (await start(key, fetch).value, false)
    }

    /// Runs `fetch` in the background, unless a fetch of the same key is running.
    func startFetch(of key: String, _ fetch: @escaping @Sendable () async -> FetchOutcome) {
        if fetches[key] == nil { _ = start(key, fetch) }
    }

    private func start(_ key: String, _ fetch: @escaping @Sendable () async -> FetchOutcome) -> Task<
        FetchOutcome, Never
    > {
        // An unstructured task: a client that disconnects must not cancel the fetch for the others.
        let task = Task {
            let outcome = await fetch()
            fetches[key] = nil
            return outcome
        }
        fetches[key] = task
        return task
    }

    // MARK: The limit

    private func acquireSlot(for url: HTTPURL) async throws(OriginFailure) -> JobID {
        if let closed = gate.closed(at: clock(), url.string) { throw .closed(closed) }
        if inFlight < limit { inFlight += 1 } else { await withCheckedContinuation { waiting.append($0) } }
        do throws(OriginGate.Closed) {
            return try gate.begin(url.string, at: clock())
        } catch {
            // The origin has failed meanwhile. The next waiting request fails immediately, too.
            releaseSlot()
            throw .closed(error)
        }
    }

    private func releaseSlot() {
        // The next waiting request takes the slot over.
        if waiting.isEmpty { inFlight -= 1 } else { waiting.removeFirst().resume() }
    }

    private func acquireStream() async {
        if streams < streamLimit { streams += 1 } else { await withCheckedContinuation { streamsWaiting.append($0) } }
    }

    private func releaseStream() {
        if streamsWaiting.isEmpty { streams -= 1 } else { streamsWaiting.removeFirst().resume() }
    }

    private func endStream() {
        releaseSlot()
        releaseStream()
    }

    nonisolated func close() { client.loop.shutdown() }
}
