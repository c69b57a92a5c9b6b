import Platform
import Synchronization

/// An emulated link before a server: it listens on a port and relays every connection to the server.
///
/// Bytes pass untouched, so that TLS and HTTP/2 are end to end. One thread carries all connections.
package final class LinkRelay: Sendable {
    package static let host = "127.0.0.1"
    /// The port it listens on.
    package let port: Int
    private let shared: SharedMetrics
    /// Runs until it is cancelled.
    private let loop: Task<Void, Never>

    /// Starts a relay. It listens when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0 chooses a free one. Only programs on this machine can connect.
    ///   - server: The server's name or IP address, which is resolved once.
    /// - Throws: `LinkError.cannotListen`, or `LinkError.unknownHost` if `server` cannot be resolved.
    package static func start(
        _ model: LinkModel, on port: Int = 0, before server: String = host, port serverPort: Int
    ) async throws(LinkError) -> LinkRelay {
        guard let address = await WorkThread.run({ try? SocketAddress(server, port: serverPort) }) else {
            throw .unknownHost(server)
        }
        do throws(SocketAddress.Failure) {
            return try LinkRelay(model, on: SocketAddress(host, port: port), before: address)
        } catch {
            throw .cannotListen(port: port, cause: error.reason)
        }
    }

    private init(_ model: LinkModel, on own: SocketAddress, before server: SocketAddress) throws(SocketAddress.Failure)
    {
        let listener = try own.listener()
        var pipeEnds: [Int32] = [-1, -1]
        guard pipe(&pipeEnds) == 0 else {
            let error = SystemError("pipe")
            close(listener)
            throw SocketAddress.Failure(reason: error.reason)
        }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (stopped, stopping) = (pipeEnds[0], pipeEnds[1])
        let shared = SharedMetrics()
        (port, self.shared) = (SocketAddress(localOf: listener)?.port ?? 0, shared)
        loop = Task {
            await withTaskCancellationHandler {
                await WorkThread.run { RelayLoop(model, listener, server, shared).run(until: stopped) }
            } onCancel: {
                close(stopping)
            }
        }
    }

    /// The traffic of the link so far.
    package var metrics: LinkMetrics { shared.current }

    /// Stops listening and closes every connection at both ends.
    package func stop() async {
        loop.cancel()
        await loop.value
    }
}

/// The metrics of a relay, which other threads read.
final class SharedMetrics: Sendable {
    private let metrics = Mutex(LinkMetrics())

    var current: LinkMetrics {
        get { metrics.withLock { $0 } }
        set { metrics.withLock { $0 = newValue } }
    }
}

/// An emulated link: a delay, a bandwidth that all connections share, and losses.
///
/// Both directions have the same bandwidth, each its own. It counts the bytes that TCP carries, not packet headers, and
/// acknowledgements take none of it.
package struct LinkModel: Sendable, Equatable {
    /// The round-trip time of an empty link.
    package var roundTrip: Duration
    /// The bandwidth of each direction, in bits per second.
    package var bitsPerSecond: Int
    /// The probability that a segment is lost, from 0 to 0.5.
    package var loss = 0.0
    /// The seed of the generator that decides which segments are lost.
    package var seed: UInt64 = 1

    package init(roundTrip: Duration, bitsPerSecond: Int) {
        self.roundTrip = roundTrip
        self.bitsPerSecond = bitsPerSecond
    }

    /// Parses `RTT/BANDWIDTH`, such as `50ms/200mbit`.
    ///
    /// - Throws: `LinkError.invalidValue` if `text` has another form, or if the round-trip time is not from 1 ms to 10 s
    ///   or the bandwidth not from 10 kbit to 10 Gbit per second.
    package init(_ text: String) throws(LinkError) {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            let seconds = Self.number(parts[0], units: [("ms", 1e-3), ("s", 1)]), (0.001...10).contains(seconds),
            let bits = Self.number(parts[1], units: [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]),
            (10_000...10_000_000_000).contains(bits)
        else {
            throw .invalidValue(
                name: "link", value: text,
                expected: "a round-trip time (1ms to 10s) and a bandwidth (10kbit to 10gbit), such as 50ms/200mbit")
        }
        self.init(roundTrip: .seconds(seconds), bitsPerSecond: Int(bits))
    }

    /// Sets `loss` from a percentage, such as `1%` or `0.5`.
    ///
    /// - Throws: `LinkError.invalidValue` if it is not from 0 to 50 %.
    package mutating func setLoss(_ text: String) throws(LinkError) {
        guard let percent = Double(text.hasSuffix("%") ? text.dropLast() : text[...]), (0...50).contains(percent) else {
            throw .invalidValue(name: "loss", value: text, expected: "a percentage from 0 to 50, such as 1%")
        }
        loss = percent / 100
    }

    /// The time from one end to the other, without the transmission.
    var delay: Duration { roundTrip / 2 }

    /// The time that the bottleneck needs for `bytes`.
    func transmissionTime(_ bytes: Int) -> Duration { .nanoseconds(bytes * 8_000_000_000 / bitsPerSecond) }

    private static func number(_ text: Substring, units: [(suffix: String, factor: Double)]) -> Double? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
            let number = Double(text.dropLast(unit.suffix.count))
        else { return nil }
        return number * unit.factor
    }
}

/// The traffic of a link.
package struct LinkMetrics: Sendable, Equatable {
    /// The connections accepted.
    package internal(set) var connections = 0
    /// The connections open now.
    package internal(set) var openConnections = 0
    /// The maximum of `openConnections`.
    package internal(set) var peakConnections = 0
    /// The bytes from clients that have entered the link.
    package internal(set) var bytesUp = 0
    /// The bytes from servers that have entered the link.
    package internal(set) var bytesDown = 0
    /// The segments that were lost, in both directions.
    package internal(set) var lostSegments = 0

    /// One JSON object.
    package var json: String {
        #"{"connections":\#(connections),"openConnections":\#(openConnections),"peakConnections":\#(peakConnections),"#
            + #""bytesUp":\#(bytesUp),"bytesDown":\#(bytesDown),"lostSegments":\#(lostSegments)}"#
    }
}

/// Why an emulated link cannot start, or what is wrong with its options.
package enum LinkError: Error, CustomStringConvertible, Sendable {
    /// The link cannot listen on the port; `cause` is the system's error message.
    case cannotListen(port: Int, cause: String)
    /// The server behind the link has an unknown name.
    case unknownHost(String)
    /// An option has an invalid value.
    case invalidValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let port, let cause): "cannot listen on \(LinkRelay.host):\(port): \(cause)"
        case .unknownHost(let host): "cannot find the address of \(host)"
        case .invalidValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
