import NIOCore
import NIOPosix

/// The parts of an origin that its connections share.
struct OriginContext: Sendable {
    let options: OriginOptions
    let metrics: OriginMetrics
    let planner: ResponsePlanner
    let connections = ConnectionRegistry()
    let gate = ResponseGate()
    /// Nil if the total bandwidth is unlimited.
    let bandwidth: Bandwidth?

    init(_ options: OriginOptions) {
        self.options = options
        planner = ResponsePlanner(options)
        metrics = OriginMetrics(countPaths: options.countPaths)
        bandwidth = options.totalBytesPerSecond.map { Bandwidth(bytesPerSecond: $0) }
    }
}

/// Holds responses until it opens, once and for all.
final class ResponseGate: Sendable {
    private let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)

    var opened: EventLoopFuture<Void> { promise.futureResult }

    func open() { promise.succeed() }

    // NIO traps if a promise is released without a result.
    deinit { promise.succeed() }
}
