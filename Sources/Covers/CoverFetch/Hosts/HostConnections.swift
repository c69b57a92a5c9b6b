/// The connections of a host as its transfers see them; libcurl opens them.
///
/// The first transfer connects, and a second one if more wait than one connection is to carry: two carry twice as much in each round
/// trip of slow start (RFC 5681 section 3.1). The others wait until these are ready, or until the address is known if the protocol is
/// known to be HTTP/1.1. Those that share a connection before the first answer show that it is HTTP/2. From then on libcurl opens
/// connections as it needs them, but no third one to a host that speaks HTTP/2: it would need one where the server allows fewer streams
/// than the limiter, or is closing one of the two. A host that does not accept the second one gets one. Only a host that an earlier run
/// knows to speak HTTP/1.1 gets a connection for each transfer at once, even if it has changed to HTTP/2.
struct HostConnections {
    enum State {
        case none
        /// The first transfers are connecting.
        case opening
        case open
    }

    /// How far a transfer is with its connection.
    enum Progress {
        case none
        /// It is opening one itself.
        case opening
        /// It has one, new or reused.
        case ready
        /// It may not open one. It is no longer in flight, and libcurl is about to end it.
        case refused
    }

    private(set) var state = State.none
    /// Maximum number of connections to a host that speaks HTTP/2.
    private(set) var maximum = 2
    private(set) var inFlight = 0
    /// Maximum number of transfers in flight until another connection is ready; nil if there is none.
    private(set) var limit: Int?
    private var opening = 0
    private(set) var ready = 0

    /// The transfers in flight for each of `maximum` connections, rounded up.
    var share: Int { (inFlight + maximum - 1) / maximum }
    /// There are transfers in flight, and none has a connection.
    var areAllWaiting: Bool { inFlight > 0 && ready == 0 }
    /// Whether a transfer in flight other than the one with this progress has a connection.
    func hasReady(besides progress: Progress) -> Bool { ready > (progress == .ready ? 1 : 0) }
    /// The streams that the server allows on both connections together; nil if that is unknown.
    var streamLimit: Int? { opening == 0 ? limit : nil }

    mutating func start() {
        inFlight += 1
        if case .none = state { state = .opening }
    }

    mutating func end(_ progress: Progress) {
        inFlight -= 1
        leave(progress)
        guard case .opening = state else { return }
        // Without a connection, the next transfer tries.
        if inFlight == 0 { state = .none } else if ready == inFlight { state = .open }
    }

    /// There is nothing to wait for.
    mutating func becameKnown(http2: Bool) {
        state = .open
        if !http2 { limit = nil }
    }

    /// A transfer needs a connection that is not open yet, while `others` are open.
    /// - Parameter http2: nil if the protocol is unknown.
    /// - Returns: whether it may open one.
    mutating func open(_ progress: inout Progress, others: Int, http2: Bool?) -> Bool {
        // It tries another address.
        if case .opening = progress { return true }
        leave(progress)
        progress = .none
        // A transfer that is alone may: there is no other whose end would leave it a stream.
        if others >= maximum, http2 ?? (maximum == 1), inFlight > 1 { return false }
        progress = .opening
        opening += 1
        return true
    }

    /// The open connections carry no more than the transfers that are left in flight.
    mutating func areFull() { limit = inFlight }

    /// The transfer has failed.
    /// - Returns: whether it failed to open a connection that the host need not accept, because another one is ready or being opened.
    mutating func failed(_ progress: Progress, http2: Bool?) -> Bool {
        guard progress == .opening, ready > 0 || opening > 1, http2 != false else { return false }
        maximum = 1
        return true
    }

    /// The transfer's connection, new or reused, is ready.
    /// - Returns: whether transfers that waited for it may start now.
    mutating func becameReady(_ progress: inout Progress) -> Bool {
        let isNew = progress == .opening
        leave(progress)
        progress = .ready
        ready += 1
        guard case .opening = state else { return isNew }
        guard ready == inFlight else { return false }
        state = .open
        return true
    }

    private mutating func leave(_ progress: Progress) {
        switch progress {
        case .none, .refused: break
        case .opening:
            opening -= 1
            limit = nil
        case .ready: ready -= 1
        }
    }
}
