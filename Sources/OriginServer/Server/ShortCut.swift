import NIOCore

/// Answers plain requests for generated covers before they are parsed, framed and handed to a task: at a third of the
/// cost, so that it is never the origin that a measurement measures.
///
/// Plain is `GET /covers/N.jpg HTTP/1.1`, or with `?delay=MS`, with harmless fields only, whole in one read. The answer is
/// byte for byte what `Decision` gives. Anything else goes to Hummingbird, and so does whatever follows it on that
/// connection: only Hummingbird knows when its answer is complete.
final class ShortCut: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let delay: Duration
    private let cacheControl: String
    private let ledger: Ledger
    /// What has been read and not been looked at.
    private var held = ByteBuffer()
    /// Runs while a request waits for its delay to pass; those behind it wait in `held`.
    private var timer: Scheduled<Void>?
    private var isAside = false

    /// Nil: these options make no request plain.
    init?(_ options: OriginOptions, _ ledger: Ledger) {
        guard options.bytesPerSecond == nil, options.fault == nil, options.status == nil,
            options.totalBytesPerSecond == nil, options.mostInFlight == nil
        else { return nil }
        delay = options.delay
        cacheControl = options.cacheControl
        self.ledger = ledger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isAside { return context.fireChannelRead(data) }
        var input = unwrapInboundIn(data)
        if held.readableBytes == 0 { held = input } else { held.writeBuffer(&input) }
        if timer == nil { takeRequests(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let timer {
            timer.cancel()
            ledger.end()
        }
        timer = nil
        context.fireChannelInactive()
    }

    private func takeRequests(_ context: ChannelHandlerContext) {
        // A client that asks without reading gets Hummingbird's back pressure.
        while timer == nil, held.readableBytes > 0, context.channel.isWritable,
            let request = PlainRequest(consuming: &held)
        {
            _ = ledger.begin(path: "/covers/\(request.number).jpg")
            let wait = request.delay.map { .milliseconds($0) } ?? delay
            if wait == .zero {
                answer(request.number, context)
            } else {
                timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(wait)) { [self] in
                    timer = nil
                    answer(request.number, context)
                    takeRequests(context)
                    // No read is under way now that would end by itself, and Hummingbird looks at the end of one.
                    if isAside { context.fireChannelReadComplete() }
                }
            }
        }
        context.flush()
        guard timer == nil else { return }
        let rest = held
        held = ByteBuffer()
        if rest.readableBytes > 0 {
            isAside = true
            context.fireChannelRead(wrapInboundOut(rest))
        }
    }

    private func answer(_ number: Int, _ context: ChannelHandlerContext) {
        defer { ledger.end() }
        let cover = CoverImage.parts(number: number)
        let description = Studio.description(of: number, length: cover.length)
        var head = context.channel.allocator.buffer(capacity: 1024)
        head.writeStaticString("HTTP/1.1 200 OK\r\nETag: ")
        head.writeString(description.tag)
        head.writeStaticString("\r\nLast-Modified: ")
        head.writeString(HTTPDate.text(description.modified))
        if !cacheControl.isEmpty {
            head.writeStaticString("\r\nCache-Control: ")
            head.writeString(cacheControl)
        }
        head.writeStaticString("\r\nAccept-Ranges: bytes\r\nContent-Type: image/jpeg\r\nContent-Length: ")
        head.writeString(String(cover.length))
        head.writeStaticString("\r\nDate: ")
        head.writeString(HTTPDate.now())
        head.writeStaticString("\r\n\r\n")
        cover.writePrefix(to: &head)
        context.write(wrapOutboundOut(head), promise: nil)
        context.write(wrapOutboundOut(cover.tail), promise: nil)
    }
}
