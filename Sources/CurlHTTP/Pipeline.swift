/// Requests that go over one connection one behind the other, none waiting for the one before (RFC 9112 section 9.3.2). Most of
/// what is asked again has not changed: what a server says then is taken down as it comes, and nothing is made for it but a line
/// here. Any other response is that of a request of its own.
// because: touched on the event loop alone.
package final class Pipeline: @unchecked Sendable {
    /// Those of `requests` that it sends.
    package let range: Range<Int>
    /// How many have a response, or one that has begun.
    package private(set) var answered = 0
    /// When it began.
    package let began = ContinuousClock.now
    /// The kept fields of the 304s, each as lines of `name: value`.
    package private(set) var told: [UInt8] = []
    /// The requests that were answered 304, and where what was told of each ends.
    package private(set) var stood: [(request: Int, end: Int)] = []
    /// The server does not go on after this response, and has said so: what has no answer was never looked at.
    package internal(set) var isCutShort = false
    /// More came than was asked for: which response is whose is not certain.
    package internal(set) var hasExcess = false

    let requests: WrittenRequests
    /// Who is told what becomes of it; it holds on to whoever that is until it has ended.
    private(set) var taker: (any PipelineTaker)?
    weak var connection: PlainConnection?
    private var unsent: Range<Int>
    /// When the last response came.
    private(set) var heard = ContinuousClock.now

    package init(_ requests: WrittenRequests, _ range: Range<Int>) {
        self.requests = requests
        self.range = range
        unsent = requests.place(of: range)
        stood.reserveCapacity(range.count)
        told.reserveCapacity(range.count * 160)
    }

    var isAnswered: Bool { answered == range.count }
    var isSent: Bool { unsent.isEmpty }

    /// Has `write` send what is left; it says how many bytes it took.
    func send(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
        let sent = requests.bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[unsent])) }
        unsent = (unsent.lowerBound + max(sent, 0))..<unsent.upperBound
        return sent
    }

    /// Takes a 304 from the front of `bytes`, if that is what is there, and a plain one. - Returns: its length; 0: it is not.
    func takeNotModified(_ bytes: UnsafeRawBufferPointer) -> Int {
        let length = NotModifiedHead.read(bytes, into: &told)
        if length == 0 { return 0 }
        stood.append((range.lowerBound + answered, told.count))
        noteAnswer()
        return length
    }

    /// The exchange for the next request, whose response is another, or does not come.
    func takeOut(_ configuration: HTTPClientConfiguration, began: ContinuousClock.Instant) -> PlainExchange? {
        let detour = taker?.differs(self, range.lowerBound + answered)
        let exchange = detour.map {
            PlainExchange($0.request, configuration, began: began, completion: $0.completion)
        }
        if let exchange { detour?.started(HTTPClient.Token(exchange: exchange)) }
        noteAnswer()
        return exchange
    }

    private func noteAnswer() {
        answered += 1
        heard = .now
    }

    func begin(_ connection: PlainConnection, _ taker: any PipelineTaker) {
        (self.connection, self.taker) = (connection, taker)
    }

    func end() {
        connection = nil
        taker.take()?.ended(self)
    }

    /// When to give up waiting, if nothing comes until then.
    func deadline(patience: Duration) -> ContinuousClock.Instant { heard + patience }
}

/// What `HTTPClient.start` made of a pipeline.
package enum PipelineStart: Sendable {
    case started
    /// Nothing was sent, as the server is not known; an ordinary request may make it known.
    case unknown
    /// Nothing was sent: the server is libcurl's.
    case refused
}

/// A request of a pipeline that goes on by itself.
package struct PipelineDetour {
    let request: TransferRequest
    let completion: Transfer.Completion
    let started: (HTTPClient.Token) -> Void

    /// - Parameters:
    ///   - request: what has been sent.
    ///   - started: told what `HTTPClient.cancel` takes.
    package init(
        _ request: TransferRequest, completion: @escaping @Sendable (Result<TransferResponse, TransferError>) -> Void,
        started: @escaping (HTTPClient.Token) -> Void
    ) {
        self.request = request
        self.completion = completion
        self.started = started
    }

    /// Nobody wants to know.
    package static func unheard(_ url: HTTPURL) -> PipelineDetour {
        PipelineDetour(TransferRequest(url: url), completion: { _ in }, started: { _ in })
    }
}

/// Who is told what becomes of a pipeline, on the event loop. Nothing may be started from within these calls.
package protocol PipelineTaker: AnyObject, Sendable {
    /// The answer to a request is another than 304, or none can be had of it.
    func differs(_ pipeline: Pipeline, _ request: Int) -> PipelineDetour
    /// Nothing more comes: those behind `answered` have no response.
    func ended(_ pipeline: Pipeline)
}
