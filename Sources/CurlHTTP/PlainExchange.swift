import HTTPTypes

/// One request on its way over a plain connection, and what has come of its response.
// because: touched on the event loop alone; others only hold it as a token to cancel with.
final class PlainExchange: @unchecked Sendable {
    let request: TransferRequest
    /// Nil when it has ended, or nobody wants to know any more.
    private(set) var completion: Transfer.Completion?
    private let began: ContinuousClock.Instant
    /// When it has taken too long.
    private let deadline: ContinuousClock.Instant
    private var firstByte: ContinuousClock.Instant?
    private(set) var head: PlainHead?
    private var location: String?
    private var body: ResponseBody?
    private var received = 0
    private var speedCheck: (time: ContinuousClock.Instant, received: Int)
    private let configuration: HTTPClientConfiguration
    /// The connection it is on.
    weak var connection: PlainConnection?
    /// What carries it since it was handed to libcurl.
    var transfer: (transfer: Transfer, use: Int)?

    /// - Parameter began: when it was sent, if that has been done.
    init(
        _ request: TransferRequest, _ configuration: HTTPClientConfiguration, began: ContinuousClock.Instant = .now,
        completion: @escaping Transfer.Completion
    ) {
        self.request = request
        self.began = began
        self.configuration = configuration
        self.completion = completion
        deadline = began + configuration.timeout
        speedCheck = (began + .seconds(configuration.lowSpeedTime), 0)
    }

    /// Ends it, and tells the caller.
    func end(_ result: Result<TransferResponse, TransferError>) {
        body = nil
        completion.take()?(result)
    }

    func cancel() { end(.failure(TransferError(.cancelled, url: request.url.string, detail: "cancelled"))) }

    /// Ends it without telling anybody.
    func drop() { completion = nil }

    // MARK: The response

    /// How many bytes of the body are still to come.
    var missing: Int { (head?.bodyLength ?? 0) - received }
    var hasHead: Bool { head != nil }

    /// Nobody keeps the body of anything but a cover.
    private var keepsBody: Bool { head.map { (200..<300).contains($0.status) } ?? false }

    /// False: it is a redirect that libcurl is to follow, or to find out where it leads.
    func begin(_ head: PlainHead) -> Bool {
        if let place = head.location {
            guard !request.followsRedirects, let place = request.url.place(of: place) else {
                return false
            }
            location = place
        }
        self.head = head
        firstByte = .now
        // Trusting the length for the allocation is bounded: what is larger than the limit is not read here.
        if keepsBody, head.bodyLength > 0 { body = ResponseBody(expecting: head.bodyLength) }
        return true
    }

    func append(_ chunk: UnsafeRawBufferPointer) {
        received += chunk.count
        body?.append(chunk)
    }

    /// Lets `read` put what has come where it stays; it says how many bytes, or what is wrong.
    func append(_ scratch: UnsafeMutableRawBufferPointer, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let amount =
            body?.append(atMost: missing, read)
            ?? read(UnsafeMutableRawBufferPointer(rebasing: scratch.prefix(missing)))
        received += max(amount, 0)
        return amount
    }

    /// The response, whole.
    func response() -> TransferResponse {
        TransferResponse(
            head: HTTPResponse(status: .init(code: head?.status ?? 0), headerFields: head?.fields ?? [:]),
            body: body ?? .none, location: location, redirectedTo: nil, isHTTP2: false,
            microseconds: began.microseconds(to: .now),
            microsecondsToFirstByte: began.microseconds(to: firstByte ?? .now))
    }

    /// The connection was lost after the head.
    func truncated() -> TransferError {
        var error = TransferError(
            .truncated, url: request.url.string,
            detail: "the body ended early: \(missing) of its \(head?.bodyLength ?? 0) bytes are missing")
        if let body, let head, body.count >= PartialBody.smallest {
            error.partial = PartialBody(body: body, fields: head.fields)
        }
        return error
    }

    /// The time to connect was over.
    var connectTimeout: TransferError {
        TransferError(
            .timeout, url: request.url.string,
            detail: "no connection after \(configuration.connectTimeout.inMilliseconds) milliseconds")
    }

    // MARK: Time

    /// When to look again whether it takes too long.
    var nextCheck: ContinuousClock.Instant { min(deadline, speedCheck.time) }

    /// Nil: it does not take too long.
    func timedOut(at now: ContinuousClock.Instant) -> TransferError? {
        if now >= deadline {
            let milliseconds = began.microseconds(to: now) / 1_000
            return TransferError(
                .timeout, url: request.url.string,
                detail: "timed out after \(milliseconds) milliseconds with \(received) bytes received")
        }
        if now < speedCheck.time { return nil }
        let time = configuration.lowSpeedTime
        if received - speedCheck.received < configuration.lowSpeedLimit * time {
            return TransferError(
                .timeout, url: request.url.string,
                detail: "less than \(configuration.lowSpeedLimit) bytes a second came for \(time) seconds")
        }
        speedCheck = (now + .seconds(time), received)
        return nil
    }
}

extension ContinuousClock.Instant {
    fileprivate func microseconds(to end: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = duration(to: end).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
