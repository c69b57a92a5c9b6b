package import HTTPTypes
import Platform

/// The open sockets of libcurl's connections, with the transfers that opened them. Used on the event loop only.
package final class OpenSockets {
    /// A connection, or an attempt at one.
    final class Connection {
        let socket: Int32
        fileprivate let opener: Transfer.ID
        fileprivate let origin: Substring
        /// When it was opened, in milliseconds since 1970.
        fileprivate let openedAt = WallClock.milliseconds()
        fileprivate let proxy: String?
        /// The transfers that it carries, the one that began last as the last.
        fileprivate var users: [Transfer.ID] = []
        /// Counts up with each use; 0 before the first has ended.
        fileprivate var lastUse = 0
        fileprivate var isShutDown = false
        fileprivate var endpoints: Endpoints?
        fileprivate(set) var isOpen = true
        /// A request of HTTP/1.1 was answered on it.
        private(set) var hasAnswered = false
        var hasAnsweredOverHTTP2 = false
        private var pace = ConnectionPace()
        /// What requests of HTTP/1.1 that were sent on it after the first one asked for.
        fileprivate var laterCovers = RecentCovers()
        /// The origins that its requests were sent to: a proxy's connection may carry those of several.
        fileprivate var origins: [Substring] = []
        /// It was closed while a transfer used it, although its server had not ended it.
        fileprivate var wasBroughtDown = false
        fileprivate var isShifted = false

        fileprivate init(_ socket: Int32, of opener: Transfer.ID, to origin: Substring, through proxy: String?) {
            self.socket = socket
            self.opener = opener
            self.origin = origin
            self.proxy = proxy
        }

        /// Nil before it is connected.
        var family: AddressFamily? { endpoints.map { $0.peer.contains(":") ? .v6 : .v4 } }

        /// Bytes, an end or an error have arrived that libcurl has not read.
        var isReadable: Bool {
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
                || errno != EAGAIN && errno != EWOULDBLOCK
        }

        /// A transfer is about to send a request.
        /// - Parameter cover: what it asks for; nil if that is no cover.
        func begin(for cover: RequestedCover?, at origin: Substring) {
            pace.send(at: .now)
            if origins.last != origin, !origins.contains(origin) { origins.append(origin) }
            // The first answer is its own: there is nothing else yet that the server could answer.
            if hasAnswered, let cover { laterCovers.add(cover) }
        }

        /// An answer of HTTP/1.1 begins.
        /// - Parameter connecting: how long the connection took.
        func didAnswer(at now: ContinuousClock.Instant, connecting: @autoclosure () -> Duration) {
            if !hasAnswered { pace.roundTrip = connecting() }
            hasAnswered = true
            pace.answer(at: now)
        }

        fileprivate var isSettledAt: ContinuousClock.Instant? {
            laterCovers.all.isEmpty || isShifted ? nil : pace.isSettledAt
        }

        /// Whether it was closed while it carried the later answer of a transfer, without its server's doing.
        func wasBroughtDown(under transfer: Transfer.ID) -> Bool {
            wasBroughtDown && users.last == transfer && !laterCovers.all.isEmpty
        }

        /// Its server sends nothing else. True as well where the system does not say so.
        fileprivate var isOver: Bool {
            #if os(Linux)
                // POLLRDHUP of poll(2), which Swift does not see.
                var descriptor = pollfd(fd: socket, events: 0x2000, revents: 0)
                return poll(&descriptor, 1, 0) != 0
            #else
                return true
            #endif
        }

        /// Reads the start of what has arrived, and leaves it there. Nil if nothing has; empty if the connection has ended.
        fileprivate func peek() -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: UnaskedAnswer.looksAt)
            let count = recv(socket, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK ? nil : [] }
            return Array(bytes.prefix(count))
        }
    }

    /// Both ends of a connection. A port alone does not tell it: one may lead to several servers.
    struct Endpoints: Hashable {
        var local: String
        var localPort: Int
        var peer: String
        var peerPort: Int
    }

    private var connections: [Int32: Connection] = [:]
    private var connected: [Endpoints: Connection] = [:]
    /// The origins whose connections carry one request each from now on.
    var distrusted: Set<Substring> = []
    /// The origins that have answered over HTTP/1.1 where they were free to speak HTTP/2.
    var speakingHTTP1: Set<Substring> = []
    var speakingHTTP2: Set<Substring> = []
    private var unaskedAnswers: [UnaskedAnswer] = []
    private var uses = 0

    /// The number of connections to an origin, without that of `transfer`. The sockets that a transfer opens count as one
    /// connection: it may try several addresses at a time (RFC 8305).
    func connections(to origin: Substring, without transfer: Transfer.ID) -> Int {
        Set(connections.values.lazy.filter { $0.origin == origin && $0.opener != transfer }.map(\.opener)).count
    }

    var count: Int { connections.count }

    /// - Parameter proxy: the one that the connection leads to, if it does.
    func add(_ socket: Int32, of transfer: Transfer.ID, to origin: Substring, through proxy: String?) {
        connections[socket] = Connection(socket, of: transfer, to: origin, through: proxy)
    }

    /// A transfer has changed its connection.
    func changed(_ transfer: Transfer.ID, from old: Connection?, to new: Connection?) {
        uses += 1
        if let old {
            old.users.removeAll { $0 == transfer }
            old.lastUse = uses
        }
        new?.users.append(transfer)
    }

    /// Closes the connections to a proxy that no transfer uses, those that were used least recently first, until `most` are open.
    func closeIdle(through proxy: String, leaving most: Int) {
        let open = connections.values.filter { $0.proxy == proxy && !$0.isShutDown }
        guard open.count > most else { return }
        let idle = open.filter { $0.users.isEmpty && $0.lastUse > 0 }.sorted { $0.lastUse < $1.lastUse }
        for connection in idle.prefix(open.count - most) {
            // libcurl owns it, and finds its end before it would use it again.
            connection.isShutDown = true
            shutdown(connection.socket, Int32(SHUT_RDWR))
        }
    }

    /// Call it before closing `socket`.
    func remove(_ socket: Int32) {
        guard let connection = connections.removeValue(forKey: socket) else { return }
        connection.isOpen = false
        if let endpoints = connection.endpoints { connected[endpoints] = nil }
        guard connection.hasAnswered else { return }
        if connection.users.isEmpty {
            look(at: connection)
        } else {
            connection.wasBroughtDown = connection.peek() != []
        }
    }

    /// The connection between two ends; nil if there is none.
    func connection(between endpoints: Endpoints) -> Connection? {
        if let known = connected[endpoints] { return known }
        for connection in connections.values where connection.endpoints == nil {
            guard let local = SocketAddress(localOf: connection.socket),
                let peer = SocketAddress(peerOf: connection.socket)
            else { continue }
            let found = Endpoints(
                local: local.address, localPort: local.port, peer: peer.address, peerPort: peer.port)
            connection.endpoints = found
            connected[found] = connection
        }
        return connected[endpoints]
    }

    // MARK: Answers that nobody asked for

    /// Whether the connections to an origin carry one request each: one of them was shifted, or its versions of HTTP contradict each other.
    package func distrusts(_ origin: Substring) -> Bool { distrusted.contains(origin) }

    /// Looks for such answers on the connections that carry no transfer, and have answered.
    /// - Returns: when there may be others: an answer that is late by one comes as long after its request as the first did. Nil for none.
    package func lookAtIdle() -> ContinuousClock.Instant? {
        let idle = connections.values.filter { $0.users.isEmpty && $0.hasAnswered }
        for connection in idle { look(at: connection) }
        return idle.compactMap(\.isSettledAt).max()
    }

    /// Looks for an answer that waits on a connection of HTTP/1.1 to whose last request the answer has arrived.
    func look(at connection: Connection) {
        guard let bytes = connection.peek() else { return }
        let isEncrypted = connection.origin.hasPrefix("https:")
        if isEncrypted
            ? UnaskedAnswer.isEncrypted(in: bytes, isOver: connection.isOver)
            : UnaskedAnswer.begins(bytes, isOver: connection.isOver)
        {
            didFindAnswer(on: connection)
        }
    }

    func didFindAnswer(on connection: Connection) {
        if connection.isShifted { return }
        connection.isShifted = true
        distrusted.formUnion(connection.origins)
        unaskedAnswers.append(
            UnaskedAnswer(
                origins: connection.origins.map(String.init), covers: connection.laterCovers.all,
                openedAt: connection.openedAt))
    }

    /// The answers that nobody asked for, and that were found since the last call.
    package func takeUnaskedAnswers() -> [UnaskedAnswer] {
        defer { unaskedAnswers = [] }
        return unaskedAnswers
    }
}

/// When an answer to the last request of a connection is to be expected, if the one that was taken for it was the one before.
struct ConnectionPace {
    /// What the answers of a busy server vary by.
    private static let slack = Duration.milliseconds(5)

    var roundTrip = Duration.zero
    private var sentAt = ContinuousClock.now
    private var answeredAt: ContinuousClock.Instant?
    /// From the first request to its answer: a round trip and the server's time.
    private var firstWait: Duration?
    private var lastWait = Duration.zero
    private var shortestWait: Duration?

    /// A request is about to be sent.
    mutating func send(at now: ContinuousClock.Instant) { sentAt = now }

    /// An answer begins.
    mutating func answer(at now: ContinuousClock.Instant) {
        lastWait = now - sentAt
        answeredAt = now
        firstWait = firstWait ?? lastWait
        shortestWait = min(shortestWait ?? lastWait, lastWait)
    }

    /// Nil if none of its answers has come sooner than its own server or the way could give it: nothing hints at another.
    var isSettledAt: ContinuousClock.Instant? {
        guard let answeredAt, let firstWait, let shortestWait,
            shortestWait * 3 < firstWait || shortestWait * 2 < roundTrip
        else { return nil }
        // A server works on one request after the other: the next answer comes its own time after the last one.
        let work = min(lastWait, max(.zero, firstWait - roundTrip))
        // What comes faster than light was there already. The answer needs the time of the first one.
        let isEarly = lastWait < roundTrip
        return answeredAt + max(work, isEarly ? firstWait - lastWait : .zero) + firstWait / 32 + Self.slack
    }
}

/// A response without a request on a connection of HTTP/1.1: a server has sent one twice, say.
///
/// If it arrives after the next request was sent, it is taken for the answer to that, and each answer after it belongs to the request before
/// its own. No client can tell at that moment, as the protocol has no numbers. The surplus shows when the connection is idle.
package struct UnaskedAnswer: Sendable {
    /// The number of bytes at the start of what has arrived that show it.
    static let looksAt = 1_025

    /// The origins that the connection's requests were sent to.
    package var origins: [String]
    /// What may be another's: what the last requests on the connection asked for, without its first.
    package var covers: [RequestedCover]
    /// When the connection was opened, in milliseconds since 1970.
    package var openedAt: Int64

    package init(origins: [String], covers: [RequestedCover], openedAt: Int64) {
        (self.origins, self.covers, self.openedAt) = (origins, covers, openedAt)
    }

    /// Whether bytes on an idle connection begin a response that is another request's answer: a 2xx or 3xx, or an error after which the connection
    /// goes on. Servers that end a connection say errors unasked (408, 503), and others send newlines after a body or the body of a 304: covers that
    /// came before them are not doubted.
    /// - Parameter isOver: the connection has ended behind the bytes.
    static func begins(_ bytes: [UInt8], isOver: @autoclosure () -> Bool) -> Bool {
        // `HTTP/1.1 200`
        let head = bytes.drop { $0 == 13 || $0 == 10 }
        let line = Array(head.prefix(12))
        guard line.count == 12, line.starts(with: "HTTP/1.".utf8), line[8] == UInt8(ascii: " "),
            let status = Int(String(decoding: line[9...], as: UTF8.self)), status >= 200
        else { return false }
        if status < 400 { return true }
        let closes =
            line[7] == UInt8(ascii: "0")
            || String(decoding: head, as: UTF8.self).lowercased().contains("connection: close")
        return status != 400 && status != 408 && !closes && !isOver()
    }
}

extension UnaskedAnswer {
    /// The same over TLS, by the length alone. A session ticket (RFC 8446 section 4.6.1), which servers send before their first answer, has 150 to
    /// 300 bytes, an alert 24. After a 400 or 408 the connection ends.
    /// - Parameter isOver: the connection has ended behind the bytes.
    static func isEncrypted(in bytes: [UInt8], isOver: Bool) -> Bool {
        // RFC 8446 section 5.1: application_data.
        bytes.count >= looksAt || bytes.count >= 320 && bytes[0] == 23 && !isOver
    }
}

/// The cover that a request is for: its own URL, whatever redirects lead to it.
package struct RequestedCover: Sendable, Hashable {
    package var url: HTTPURL
    /// What its callers send to its origin.
    package var headerFields: HTTPFields
    package var deniesPrivateAddresses: Bool

    package init(_ url: HTTPURL, headerFields: HTTPFields = [:], deniesPrivateAddresses: Bool = false) {
        (self.url, self.headerFields, self.deniesPrivateAddresses) = (url, headerFields, deniesPrivateAddresses)
    }
}

/// The last covers that were requested on a connection.
struct RecentCovers {
    static let limit = 4_096
    /// In no particular order.
    private(set) var all: [RequestedCover] = []
    private var oldest = 0

    mutating func add(_ cover: RequestedCover) {
        if all.count < Self.limit { return all.append(cover) }
        all[oldest] = cover
        oldest = (oldest + 1) % Self.limit
    }
}
