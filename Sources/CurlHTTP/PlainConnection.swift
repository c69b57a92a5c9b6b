#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One connection of `PlainHTTP`, for one request after the other (RFC 9112 section 9.3), or a pipeline of them.
final class PlainConnection {
    enum Loss {
        /// It was closed, or broke, or never came to be.
        case closed
        /// What came is for libcurl to read.
        case unusual
    }

    /// In bytes.
    static let longestHead = 16 << 10

    let socket: Int32
    let origin: PlainOrigin
    private(set) var isConnecting = true
    /// When connecting has taken too long.
    let connectDeadline: ContinuousClock.Instant
    /// The one whose response is not whole.
    private(set) var exchange: PlainExchange?
    /// What it belongs to, or whose responses are awaited. Nothing of both: the connection is idle.
    private(set) var pipeline: Pipeline?
    /// A response has come whole before.
    private(set) var hasAnswered = false
    private(set) var idleSince = ContinuousClock.now
    /// What has not been sent yet.
    private var outgoing: [UInt8] = []
    /// More came than was asked for.
    private var hasExcess = false
    /// Of a head that is not whole yet; of a pipeline, all that has come and not been looked at.
    var pending: [UInt8] = []

    /// Nil: there is no way there.
    init?(_ origin: PlainOrigin, timeout: Duration) {
        self.origin = origin
        connectDeadline = .now + timeout
        let socket = origin.address.openSocket()
        if socket < 0 { return nil }
        self.socket = socket
    }

    /// Whether connecting has taken too long.
    func isLate(at now: ContinuousClock.Instant) -> Bool { isConnecting && connectDeadline <= now }

    func begin(_ exchange: PlainExchange) {
        take(exchange)
        origin.write(exchange.request, to: &outgoing)
    }

    func begin(_ pipeline: Pipeline, _ taker: any PipelineTaker) {
        pipeline.begin(self, taker)
        self.pipeline = pipeline
    }

    /// The response that comes now is the exchange's.
    func take(_ exchange: PlainExchange) {
        exchange.connection = self
        self.exchange = exchange
    }

    /// The pipeline, which has ended: the connection has no more to do with it.
    func releasePipeline() -> Pipeline? { pipeline.take() }

    var isIdle: Bool { exchange == nil && pipeline == nil }

    /// The exchange, for whatever is to become of it: the connection has no more to do with it.
    func release() -> PlainExchange? {
        exchange?.connection = nil
        return exchange.take()
    }

    func close() { _ = closeDescriptor(socket) }

    // MARK: Sending

    enum Sending {
        case done
        /// The socket takes no more for now.
        case blocked
        case lost
    }

    func send() -> Sending {
        if isConnecting {
            guard let error = connectionError() else { return .blocked }
            if error != 0 { return .lost }
            isConnecting = false
        }
        while let pipeline, !pipeline.isSent {
            if pipeline.send({ write(socket, $0.baseAddress, $0.count) }) >= 0 || errno == EINTR { continue }
            return errno == EAGAIN ? .blocked : .lost
        }
        while !outgoing.isEmpty {
            let sent = outgoing.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            if sent < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : .lost
            }
            if sent == outgoing.count { outgoing.removeAll(keepingCapacity: true) } else { outgoing.removeFirst(sent) }
        }
        return .done
    }

    /// 0: connected; nil: not yet.
    private func connectionError() -> Int32? {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length)
        if error != 0 { return error }
        var address = sockaddr_storage()
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected = withUnsafeMutableBytes(of: &address) {
            getpeername(socket, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        return isConnected ? 0 : nil
    }

    // MARK: Receiving

    enum Reception {
        /// More is to come.
        case waiting
        /// The response is whole.
        case whole
        case lost(Loss)
    }

    /// Reads what has come. - Parameter limit: bodies larger than that are not read here.
    func receive(_ scratch: UnsafeMutableRawBufferPointer, limit: Int) -> Reception {
        while true {
            // Nothing was asked that anything could answer.
            guard let exchange else { return .lost(.closed) }
            let (wanted, amount) =
                exchange.hasHead
                ? (exchange.missing, exchange.append(scratch) { read(socket, $0.baseAddress, $0.count) })
                : (scratch.count, read(socket, scratch.baseAddress, scratch.count))
            if amount < 0, errno == EAGAIN || errno == EINTR { return .waiting }
            if amount <= 0 { return .lost(.closed) }
            if !exchange.hasHead, let loss = take(UnsafeRawBufferPointer(rebasing: scratch[..<amount]), limit) {
                return .lost(loss)
            }
            if exchange.hasHead, exchange.missing == 0 {
                noteAnswer()
                return .whole
            }
            // Less than there was room for: nothing more is there.
            if amount < wanted { return .waiting }
        }
    }

    func noteAnswer() {
        hasAnswered = true
        idleSince = .now
    }

    /// Takes what has come of a head, and of the body behind it.
    private func take(_ bytes: UnsafeRawBufferPointer, _ limit: Int) -> Loss? {
        if pending.isEmpty { return readHead(bytes, limit) }
        pending += bytes
        let gathered = pending
        pending = []
        return gathered.withUnsafeBytes { readHead($0, limit) }
    }

    private func readHead(_ bytes: UnsafeRawBufferPointer, _ limit: Int) -> Loss? {
        switch PlainHead.read(bytes) {
        case .incomplete:
            // A head of usual size comes in one piece or two.
            if bytes.count > Self.longestHead { return .unusual }
            pending = Array(bytes)
        case .unusual: return .unusual
        case .whole(let head, let length):
            guard head.bodyLength <= limit, exchange?.begin(head) == true else { return .unusual }
            let body = bytes.dropFirst(length).prefix(head.bodyLength)
            exchange?.append(UnsafeRawBufferPointer(rebasing: body))
            hasExcess = bytes.count > length + body.count
        }
        return nil
    }

    /// Nothing has come that was not asked for, not even the end: it would be taken for the next response.
    var isQuiet: Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK)) < 0 && errno == EAGAIN
    }

    /// Whether another request may follow on it.
    var canGoOn: Bool { exchange?.head?.isKeptAlive == true && !hasExcess && outgoing.isEmpty }
}
