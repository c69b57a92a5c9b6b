import HTTPCaching
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Platform

/// Answers the requests of a connection: it waits, writes and closes what `ResponsePlanner` decides.
///
/// A request arrives after the response to the one before it, because NIO's handlers hold it back.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let origin: OriginContext
    private var request: HTTPRequest?
    /// The current request is counted as in flight.
    private var isInFlight = false
    private var timer: Scheduled<Void>?

    private static let filler = ByteBuffer(repeating: 0x20, count: 65_536)

    init(_ origin: OriginContext) { self.origin = origin }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end: if let request = request.take() { respond(to: request, context) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        endRequest()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: The response

    private func respond(to request: HTTPRequest, _ context: ChannelHandlerContext) {
        let target = request.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let closes = request.headerFields[.connection]?.lowercased() == "close"
        if parts[0] == "/counts" {
            return send(.text(200, origin.metrics.json, type: "application/json"), closes: closes, context)
        }
        let number = origin.metrics.requestStarted(path: String(parts[0]))
        isInFlight = true
        var response = response(to: request, path: parts[0], query: parts.dropFirst().first, number: number)
        response.head.headerFields.append(
            HTTPField(name: .date, value: HTTPDate.text(WallClock.milliseconds() / 1_000)))
        wait(response.delay, context) { [self] in
            wait(bandwidthDelay(response), context) { [self] in
                if response.isHeld {
                    origin.gate.opened.hop(to: context.eventLoop).assumeIsolated().whenComplete { [self] _ in
                        if isInFlight { send(response, closes: closes, context) }
                    }
                } else {
                    send(response, closes: closes, context)
                }
            }
        }
    }

    private func response(
        to request: HTTPRequest, path: Substring, query: Substring?, number: Int
    ) -> OriginResponse {
        if let maximum = origin.options.maximumInFlight, origin.metrics.inFlight.value > maximum {
            origin.metrics.rejected.add(1)
            return .text(429, "more than \(maximum) requests are in flight\n")
        }
        return origin.planner.response(to: request, path: path, query: query, number: number)
    }

    /// The time until the bandwidth that all bodies share has sent this one.
    private func bandwidthDelay(_ response: OriginResponse) -> Duration {
        guard let bandwidth = origin.bandwidth, case .bytes(let bytes, _) = response.body else { return .zero }
        return bandwidth.reserve(bytes.readableBytes)
    }

    private func send(_ response: OriginResponse, closes: Bool, _ context: ChannelHandlerContext) {
        switch response.body {
        case .reset: return context.channel.reset()
        case .close: return close(context)
        case .never: return
        case .none, .bytes, .bytesThenClose, .endless: write(.head(response.head), context)
        }
        let end = { [self] in
            endRequest()
            write(.end(nil), context)
            context.flush()
            if closes { close(context) }
        }
        switch response.body {
        case .bytes(let bytes, perSecond: nil):
            write(.body(bytes), context)
            end()
        case .bytes(let bytes, let rate?): send(bytes, perSecond: rate, context, then: end)
        case .bytesThenClose(let bytes): write(bytes, context) { [self] in close(context) }
        case .endless(let bytes, let rate): sendEndlessly(bytes, perSecond: rate, context)
        case .none, .reset, .close, .never: end()
        }
    }

    // MARK: Pieces of a response

    private func write(_ part: HTTPResponsePart, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(part), promise: nil)
    }

    /// Writes bytes, and continues when the socket has taken them: a slow client costs no memory.
    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, then next: @escaping () -> Void) {
        context.writeAndFlush(wrapOutboundOut(.body(bytes))).assumeIsolated().whenSuccess {
            // In another turn of the event loop, so that other connections are served meanwhile.
            context.eventLoop.assumeIsolated().execute(next)
        }
    }

    /// Sends bytes at a constant rate, a piece every twentieth of a second. Times count from the start, so that late timers do not
    /// add up.
    private func send(
        _ bytes: ByteBuffer, perSecond rate: Int, sent: Int = 0, since start: NIODeadline = .now(),
        _ context: ChannelHandlerContext, then next: @escaping () -> Void
    ) {
        var rest = bytes
        let length = min(rest.readableBytes, max(1, min(rate / 20, 1 << 20)))
        guard length > 0, let piece = rest.readSlice(length: length) else { return next() }
        let due = start + .nanoseconds(Int64(Double(sent + length) / Double(rate) * 1e9))
        wait(.nanoseconds((due - .now()).nanoseconds), context) { [self] in
            write(piece, context) { [self] in
                send(rest, perSecond: rate, sent: sent + length, since: start, context, then: next)
            }
        }
    }

    /// Sends bytes and then filler, until the client closes the connection.
    private func sendEndlessly(_ bytes: ByteBuffer, perSecond rate: Int?, _ context: ChannelHandlerContext) {
        let next = { [self] in sendEndlessly(Self.filler, perSecond: rate, context) }
        if let rate { send(bytes, perSecond: rate, context, then: next) } else { write(bytes, context, then: next) }
    }

    private func wait(_ time: Duration, _ context: ChannelHandlerContext, then next: @escaping () -> Void) {
        guard time > .zero else { return next() }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time), next)
    }

    /// Closes the connection when everything that was written is sent.
    private func close(_ context: ChannelHandlerContext) {
        context.close(mode: .output).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func endRequest() {
        if isInFlight { origin.metrics.requestEnded() }
        isInFlight = false
    }
}
