import Platform

/// One direction of a link: the senders of all connections, the bottleneck they share, and the segments on their way.
///
/// It is a simulation on a virtual clock. Segments leave the bottleneck in order, arrive after the delay and are acknowledged
/// after the round-trip time, so that one queue of segments holds all future events. Times count from the link's start. The
/// results do not depend on how often `advance(to:)` is called.
///
/// A lost segment is sent again one round trip later (fast retransmit, also for the last segment of a flight, where TCP would
/// wait for a timer). What follows it waits at the receiver.
struct LinkDirection {
    /// An event that is due at the receiver.
    struct Arrival: Equatable {
        let connection: Int
        let event: LinkEvent
        /// The number of bytes; 0 unless `event` is `data`.
        let length: Int
    }

    private let model: LinkModel
    private let delay: Duration
    private var random: SplitMix64
    private var senders: [Int: LinkSender] = [:]
    /// When the bottleneck has transmitted everything it has accepted.
    private var idleFrom = Duration.zero
    /// The segments that are not acknowledged, by departure.
    private var segments = Deque<LinkSegment>()
    /// How many of them have arrived.
    private var arrivedSegments = 0
    /// The connections that have bytes to read.
    private var readable: [Int] = []
    private var arrivals: [Arrival] = []
    /// The number of segments that were lost.
    private(set) var lostSegments = 0

    init(_ model: LinkModel, seed: UInt64) {
        self.model = model
        delay = model.delay
        random = SplitMix64(seed: seed)
    }

    /// The time of the next arrival or acknowledgement.
    var nextEvent: Duration? {
        let arrival = arrivedSegments < segments.count ? segments[arrivedSegments].departure + delay : nil
        guard let acknowledgement = segments.first.map({ $0.departure + model.roundTrip }) else { return arrival }
        return arrival.map { min($0, acknowledgement) } ?? acknowledgement
    }

    /// The bytes of a connection that wait for its window.
    func waiting(_ connection: Int) -> Int { senders[connection]?.waiting ?? 0 }

    /// Opens a connection: its first bytes leave one round trip later, when this segment is acknowledged.
    mutating func open(_ connection: Int, at now: Duration) {
        advance(to: now)
        senders[connection] = LinkSender()
        transmit(.open, of: connection, offset: 0, length: 0, at: now)
    }

    /// Sends `count` bytes as soon as the window allows.
    mutating func send(_ count: Int, on connection: Int, at now: Duration) {
        advance(to: now)
        senders[connection]?.waiting += count
        transmitWaiting(connection, at: now)
    }

    /// Ends a connection after the bytes that wait, or abandons it.
    mutating func end(_ connection: Int, with event: LinkEvent, at now: Duration) {
        advance(to: now)
        if event == .reset { senders[connection]?.waiting = 0 }
        senders[connection]?.ending = event
        transmitWaiting(connection, at: now)
    }

    /// Opens or closes a connection's receive window.
    mutating func setReceiving(_ isReceiving: Bool, on connection: Int, at now: Duration) {
        advance(to: now)
        senders[connection]?.isReceiving = isReceiving
        transmitWaiting(connection, at: now)
    }

    /// Forgets a connection. Its segments on their way still occupy the link.
    mutating func remove(_ connection: Int) { senders[connection] = nil }

    /// Processes every arrival and acknowledgement up to `now`.
    mutating func advance(to now: Duration) {
        while let first = segments.first {
            let acknowledgement = first.departure + model.roundTrip
            if arrivedSegments < segments.count {
                let segment = segments[arrivedSegments]
                let arrival = segment.departure + delay
                if arrival <= min(now, acknowledgement) {
                    arrivedSegments += 1
                    receive(segment)
                    continue
                }
            }
            guard acknowledgement <= now else { return }
            segments.removeFirst()
            arrivedSegments -= 1
            acknowledge(first, at: acknowledgement)
        }
    }

    /// Returns what has arrived since the last call, and keeps `storage` for what arrives next.
    mutating func takeArrivals(_ storage: inout [Arrival]) {
        storage.removeAll(keepingCapacity: true)
        for connection in readable { flush(connection) }
        readable.removeAll(keepingCapacity: true)
        swap(&storage, &arrivals)
    }

    /// Sends what the window allows, then the end.
    private mutating func transmitWaiting(_ connection: Int, at now: Duration) {
        while true {
            guard var sender = senders[connection], sender.isOpen || sender.ending == .reset else { return }
            let length = min(sender.waiting, CongestionWindow.segment)
            if length == 0 {
                guard let ending = sender.ending else { return }
                sender.ending = nil
                senders[connection] = sender
                return transmit(ending, of: connection, offset: sender.sent, length: 0, at: now)
            }
            guard sender.isReceiving, sender.inFlight + length <= sender.window.bytes else { return }
            let offset = sender.sent
            sender.waiting -= length
            sender.inFlight += length
            sender.sent += length
            senders[connection] = sender
            transmit(.data, of: connection, offset: offset, length: length, at: now)
        }
    }

    /// Passes a segment through the bottleneck.
    private mutating func transmit(_ event: LinkEvent, of connection: Int, offset: Int, length: Int, at now: Duration) {
        idleFrom = max(now, idleFrom) + model.transmissionTime(length)
        let isLost = event == .data && model.loss > 0 && Double.random(in: 0..<1, using: &random) < model.loss
        if isLost { lostSegments += 1 }
        segments.append(
            LinkSegment(
                connection: connection, event: event, offset: offset, length: length, departure: idleFrom,
                isLost: isLost))
    }

    private mutating func receive(_ segment: LinkSegment) {
        let connection = segment.connection
        guard senders[connection] != nil else { return }
        switch segment.event {
        case .open, .reset:
            flush(connection)
            arrivals.append(Arrival(connection: connection, event: segment.event, length: 0))
        case .data:
            senders[connection]?.receive(segment)
            if readable.last != connection { readable.append(connection) }
        case .end:
            senders[connection]?.hasEndArrived = true
            readable.append(connection)
        }
    }

    /// Delivers the bytes of a connection that have arrived in order.
    private mutating func flush(_ connection: Int) {
        guard let length = senders[connection]?.takeDelivered() else { return }
        if length > 0 { arrivals.append(Arrival(connection: connection, event: .data, length: length)) }
        guard senders[connection]?.isComplete == true else { return }
        senders[connection]?.hasEndArrived = false
        arrivals.append(Arrival(connection: connection, event: .end, length: 0))
    }

    private mutating func acknowledge(_ segment: LinkSegment, at now: Duration) {
        let connection = segment.connection
        guard var sender = senders[connection] else { return }
        if segment.isLost {
            sender.window.didLose(at: segment.offset, inFlight: sender.inFlight, end: sender.sent)
            senders[connection] = sender
            return transmit(.data, of: connection, offset: segment.offset, length: segment.length, at: now)
        }
        if segment.event == .open { sender.isOpen = true }
        sender.inFlight -= segment.length
        sender.window.didAcknowledge(segment.length, at: segment.offset)
        senders[connection] = sender
        transmitWaiting(connection, at: now)
    }
}

/// One connection's sender and receiver in one direction.
struct LinkSender {
    var window = CongestionWindow()
    /// The bytes that wait for the window.
    var waiting = 0
    /// The bytes sent and not acknowledged.
    var inFlight = 0
    /// The bytes sent so far.
    var sent = 0
    /// False until the handshake is complete.
    var isOpen = false
    /// False while the receiver takes no bytes: its receive window is closed.
    var isReceiving = true
    /// How the stream ends after the bytes that wait.
    var ending: LinkEvent?
    /// The bytes that have arrived, in order or not.
    private var received = 0
    /// The starts of the lost segments that have not been sent again, in order.
    private var gaps: [Int] = []
    /// The bytes that the receiver has read.
    private var delivered = 0
    /// True if the end has arrived, perhaps before lost segments.
    var hasEndArrived = false

    /// The end is read when no byte is missing.
    var isComplete: Bool { hasEndArrived && gaps.isEmpty }

    mutating func receive(_ segment: LinkSegment) {
        if segment.isLost {
            // A segment sent again and lost again has its gap already.
            if segment.offset >= received { gaps.append(segment.offset) }
        } else if let gap = gaps.firstIndex(of: segment.offset) {
            gaps.remove(at: gap)
        }
        received = max(received, segment.offset + segment.length)
    }

    /// Returns the number of bytes that have arrived in order since the last call.
    mutating func takeDelivered() -> Int {
        let end = gaps.first ?? received
        defer { delivered = end }
        return end - delivered
    }
}

/// How many bytes a sender may have in flight: slow start and congestion avoidance (RFC 5681), from an initial window of ten
/// segments (RFC 6928).
///
/// The window grows by the bytes acknowledged, even if the sender had no more to send, and stays as it is while the connection
/// is idle (RFC 2861 would reduce it).
struct CongestionWindow {
    /// The bytes of a full segment.
    static let segment = 1460
    /// The receive window, which bounds the congestion window.
    static let maximum = 6 << 20

    private(set) var bytes = 10 * segment
    private var slowStartThreshold = Int.max
    /// The losses of segments before this offset belong to the recovery in progress.
    private var recoveryEnd = 0

    /// Grows by an acknowledgement of `count` bytes that start at `offset`: by as many in slow start, which doubles the window
    /// every round trip, and by one segment a round trip after a loss.
    mutating func didAcknowledge(_ count: Int, at offset: Int) {
        guard offset >= recoveryEnd else { return }
        let growth = bytes < slowStartThreshold ? count : Self.segment * count / bytes
        bytes = min(bytes + growth, Self.maximum)
    }

    /// Halves the window, once for all segments that were in flight when the first of them was found lost.
    ///
    /// - Parameters:
    ///   - offset: The start of the lost segment.
    ///   - inFlight: The bytes in flight, the lost ones included.
    ///   - end: The end of what has been sent.
    mutating func didLose(at offset: Int, inFlight: Int, end: Int) {
        guard offset >= recoveryEnd else { return }
        slowStartThreshold = max(inFlight / 2, 2 * Self.segment)
        bytes = slowStartThreshold
        recoveryEnd = end
    }
}

/// The content of one segment.
enum LinkEvent: Sendable {
    /// The connection opens.
    case open
    /// Bytes arrive.
    case data
    /// The sender has sent everything.
    case end
    /// The sender abandons the connection.
    case reset
}

/// A segment between its transmission and its acknowledgement.
struct LinkSegment {
    let connection: Int
    let event: LinkEvent
    /// The position of the first byte in the connection's stream.
    let offset: Int
    let length: Int
    /// When its last bit leaves the bottleneck.
    let departure: Duration
    let isLost: Bool
}
