import HTTPCaching
import NIOCore

/// Answers simple requests for generated covers before Hummingbird parses them.
///
/// This costs a third of Hummingbird's path, so that the origin is not the bottleneck of a benchmark. The response is
/// byte for byte that of `ResponsePlanner`. Any other request goes to Hummingbird, and so does everything after it on the
/// same connection, because only Hummingbird knows when its response is complete.
final class FastPathHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let delay: Duration
    private let cacheControl: String
    private let metrics: OriginMetrics
    /// Received bytes that are not parsed yet.
    private var unparsed = ByteBuffer()
    /// The delay of the current request. Later requests wait in `unparsed`.
    private var timer: Scheduled<Void>?
    /// True once Hummingbird has taken over the connection.
    private var isBypassed = false

    /// Returns nil if the options affect every response.
    init?(_ context: OriginContext) {
        let options = context.options
        guard options.bytesPerSecond == nil, options.fault == nil, options.status == nil,
            options.totalBytesPerSecond == nil, options.maximumInFlight == nil, options.size == nil
        else { return nil }
        delay = options.delay
        cacheControl = options.cacheControl
        metrics = context.metrics
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isBypassed { return context.fireChannelRead(data) }
        var input = unwrapInboundIn(data)
        if unparsed.readableBytes == 0 { unparsed = input } else { unparsed.writeBuffer(&input) }
        if timer == nil { processRequests(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let timer {
            timer.cancel()
            metrics.requestEnded()
        }
        timer = nil
        context.fireChannelInactive()
    }

    private func processRequests(_ context: ChannelHandlerContext) {
        // Hummingbird applies back-pressure to a client that sends requests without reading responses.
        while timer == nil, unparsed.readableBytes > 0, context.channel.isWritable,
            let request = FastPathRequest(consuming: &unparsed)
        {
            _ = metrics.requestStarted(path: "/covers/\(request.number).jpg")
            let delay = request.delay.map { .milliseconds($0) } ?? delay
            if delay == .zero {
                respond(request.number, context)
            } else {
                timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [self] in
                    timer = nil
                    respond(request.number, context)
                    processRequests(context)
                    // Hummingbird processes what it has read when a read completes, and none is in progress here.
                    if isBypassed { context.fireChannelReadComplete() }
                }
            }
        }
        context.flush()
        guard timer == nil, unparsed.readableBytes > 0 else { return }
        let rest = unparsed
        unparsed = ByteBuffer()
        isBypassed = true
        context.fireChannelRead(wrapInboundOut(rest))
    }

    private func respond(_ number: Int, _ context: ChannelHandlerContext) {
        defer { metrics.requestEnded() }
        let file = CoverImage.jpegFile(number: number)
        let validators = Validators(name: "c\(number)", hash: UInt64(number), length: file.length)
        var head = context.channel.allocator.buffer(capacity: 1024)
        head.writeStaticString("HTTP/1.1 200 OK\r\nETag: ")
        head.writeString(validators.entityTag)
        head.writeStaticString("\r\nLast-Modified: ")
        head.writeString(HTTPDate.text(validators.lastModified))
        if !cacheControl.isEmpty {
            head.writeStaticString("\r\nCache-Control: ")
            head.writeString(cacheControl)
        }
        head.writeStaticString("\r\nAccept-Ranges: bytes\r\nContent-Type: image/jpeg\r\nContent-Length: ")
        head.writeString(String(file.length))
        head.writeStaticString("\r\nDate: ")
        head.writeString(CurrentDate.text)
        head.writeStaticString("\r\n\r\n")
        file.writeHead(to: &head)
        context.write(wrapOutboundOut(head), promise: nil)
        context.write(wrapOutboundOut(file.tail), promise: nil)
    }
}
