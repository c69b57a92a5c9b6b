import NIOCore

/// Closes a connection whose client makes no progress (`ConnectionProgress`). The first handler of its pipeline.
final class ProgressHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let rules: HTTP1RulesHandler
    private let interval: TimeAmount
    private var progress: ConnectionProgress
    private var received = 0
    private var written = 0
    private var nextCheck: Scheduled<Void>?

    init(_ timeouts: ConnectionTimeouts, rules: HTTP1RulesHandler) {
        self.rules = rules
        progress = ConnectionProgress(timeouts, at: .now())
        interval = .nanoseconds(max(1, min(timeouts.idle, timeouts.stall).nanoseconds / 8))
    }

    func handlerAdded(context: ChannelHandlerContext) { scheduleCheck(context) }

    func handlerRemoved(context: ChannelHandlerContext) { nextCheck?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        nextCheck?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    private func scheduleCheck(_ context: ChannelHandlerContext) {
        nextCheck = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let observed = ConnectionProgress.Observation(
            phase: rules.phase, answered: rules.answered, received: received, sent: written - unsent, unsent: unsent)
        if progress.isStalled(observed, at: .now()) {
            context.close(promise: nil)
        } else {
            scheduleCheck(context)
        }
    }
}
