import NIOCore
import NIOHTTP1

/// Answers requests that break `RequestRules`, and frames responses as the version of each request allows: NIO and Hummingbird
/// answer HTTP/1.0 as HTTP/1.1.
///
/// It stands between NIO's codec and Hummingbird's. A connection whose last response is written is closed once its client has
/// closed it, or after two seconds: closing immediately could cost the client the response if it is still sending (RFC 9112 section
/// 9.6).
final class HTTP1RulesHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request whose response is not written.
    private struct Exchange {
        var isHTTP10 = false
        var isHead = false
        /// The client asks that the connection is closed after the response.
        var isLast = true
    }

    private static let lingering = TimeAmount.seconds(2)

    private let rules: RequestRules
    private var exchanges = CircularBuffer<Exchange>()
    private var isReading = false
    /// Input is discarded: no further request is answered.
    private var isDiscarding = false
    /// Written after the responses to earlier requests.
    private var refusal: RequestRules.Refusal?
    private var closesAfterResponse = false
    /// Completes when the kernel has taken all that was written.
    private var lastWrite: EventLoopFuture<Void>?
    /// How many responses are written.
    private(set) var answered = 0
    private var isClosed = false
    /// Called once the client has closed its side of the connection, as every browser does that no longer wants the response.
    var onClose: (@Sendable () -> Void)? { didSet { if isClosed { onClose?() } } }

    init(rules: RequestRules) { self.rules = rules }

    var phase: ConnectionProgress.Phase {
        if isReading { return .receiving }
        return exchanges.isEmpty ? .idle : .responding
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isDiscarding { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            do throws(RequestRules.Refusal) {
                let head = try rules.applied(to: head, local: context.channel.localAddress)
                exchanges.append(
                    Exchange(isHTTP10: head.isHTTP10, isHead: head.method == .HEAD, isLast: !head.isKeepAlive))
                isReading = true
                context.fireChannelRead(wrapInboundOut(.head(head)))
            } catch {
                isDiscarding = true
                refusal = error
                if exchanges.isEmpty { writeRefusal(context) }
            }
        case .body: context.fireChannelRead(data)
        case .end:
            isReading = false
            // Requests after the last one are not processed (RFC 9112 section 9.6).
            isDiscarding = exchanges.last?.isLast ?? false
            context.fireChannelRead(data)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { didClose() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        didClose()
        context.fireChannelInactive()
    }

    private func didClose() {
        isClosed = true
        onClose?()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The parser's opinion of discarded input does not matter.
        if isDiscarding { return }
        // The rest of a request that has its response gets no other one.
        if isReading, exchanges.isEmpty { close(context) } else { context.fireErrorCaught(error) }
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Without a request it is Hummingbird's response to one that cannot be parsed.
        let exchange = exchanges.first ?? Exchange()
        switch unwrapOutboundIn(data) {
        case .head(let head):
            let written = promise ?? context.eventLoop.makePromise()
            lastWrite = written.futureResult
            context.write(wrapOutboundOut(.head(framed(head, exchange))), promise: written)
        case .body:
            // NIO writes the body of a HEAD, too.
            if exchange.isHead { promise?.succeed() } else { context.write(data, promise: promise) }
        case .end(let trailers):
            if exchange.isHead {
                promise?.succeed()
                context.flush()
            } else {
                writeEnd(exchange.isHTTP10 ? nil : trailers, context, promise)
            }
            didRespond(context)
        }
    }

    private func framed(_ head: HTTPResponseHead, _ exchange: Exchange) -> HTTPResponseHead {
        var head = head
        closesAfterResponse = exchange.isLast || head.headers[canonicalForm: "connection"].contains("close")
        if exchange.isHTTP10 {
            // NIO writes chunks unless the version forbids them (RFC 9112 section 6.1). The end of the connection is that of the body.
            head.version = .http1_0
            head.headers.remove(name: "Transfer-Encoding")
            let hasLength = head.headers.contains(name: "Content-Length") || !head.status.mayHaveResponseBody
            if !hasLength, !exchange.isHead { closesAfterResponse = true }
        }
        if closesAfterResponse {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if exchange.isHTTP10 {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        return head
    }

    private func didRespond(_ context: ChannelHandlerContext) {
        _ = exchanges.popFirst()
        answered += 1
        if closesAfterResponse {
            close(context)
        } else if exchanges.isEmpty {
            writeRefusal(context)
        }
    }

    private func writeRefusal(_ context: ChannelHandlerContext) {
        guard let refusal = refusal.take() else { return }
        let body = ByteBuffer(string: refusal.text + "\n")
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": String(body.readableBytes),
            "Cache-Control": "no-store", "Connection": "close",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        writeEnd(nil, context, nil)
        answered += 1
        close(context)
    }

    private func writeEnd(
        _ trailers: HTTPHeaders?, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
    ) {
        let written = promise ?? context.eventLoop.makePromise()
        lastWrite = written.futureResult
        context.writeAndFlush(wrapOutboundOut(.end(trailers)), promise: written)
    }

    // MARK: Closing

    /// Ends the connection after the response.
    private func close(_ context: ChannelHandlerContext) {
        isDiscarding = true
        isReading = false
        let (channel, loop) = (context.channel, context.eventLoop)
        let closed = loop.makePromise(of: Void.self)
        close(context: context, mode: .output, promise: closed)
        closed.futureResult.whenComplete { _ in
            loop.scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, let lastWrite else { return context.close(mode: mode, promise: promise) }
        // NIO drops what it has not written if the client has closed its own side.
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        lastWrite.whenComplete { _ in context.value.close(mode: mode, promise: promise) }
    }
}
