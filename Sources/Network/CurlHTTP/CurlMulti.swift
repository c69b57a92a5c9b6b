import CCurl
import CLinux
import Platform

/// libcurl's multi handle, driven by socket events (`curl_multi_socket_action`), with its timer and its transfers.
package final class CurlMulti {
    /// libcurl's initialization, once in a process.
    private static let initialization = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    static func initialize() { _ = initialization }

    /// The time of libcurl's timer.
    private(set) var deadline: ContinuousClock.Instant?
    var poller: Poller
    private var inFlight: [Transfer.ID: Transfer] = [:]
    private var idle: [Transfer] = []
    private var lastID: Transfer.ID = 0
    /// When the transfers in flight are looked at next; nil for not before one is started.
    private(set) var nextLook: ContinuousClock.Instant?
    private var looks = 0
    private let lookInterval: Duration
    /// Transfers that libcurl did not accept.
    private var rejected: [Transfer.ID] = []
    private let configuration: HTTPClientConfiguration
    private let multi: UnsafeMutableRawPointer
    /// The sockets of libcurl's connections.
    package let sockets = OpenSockets()
    let memory: BodyMemory
    /// Streams of a connection before libcurl opens another one. Never lowered: libcurl has one number for all hosts.
    private var streams = 0
    /// Shares TLS sessions between the easy handles, which would each keep their own.
    private let share: UnsafeMutableRawPointer

    init(configuration: HTTPClientConfiguration) throws(SystemError) {
        Self.initialize()
        poller = try Poller()
        self.configuration = configuration
        memory = BodyMemory(limit: configuration.bodyMemory)
        lookInterval = configuration.timeout / Transfer.looksPerTimeout
        multi = curl_multi_init()
        share = curl_share_init()
        sleeve_share_setopt_lock_data(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sleeve_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumConnections)
        sleeve_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, context)
        sleeve_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, context)
        sleeve_multi_setopt_socket(multi) { _, socket, what, context, _ in
            CurlMulti.from(context).setInterest(what, on: socket)
            return 0
        }
        sleeve_multi_setopt_timer(multi) { _, milliseconds, context in
            CurlMulti.from(context).deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
            return 0
        }
    }

    /// Closes the connections. No transfer may be in flight.
    func close() {
        idle = []
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlMulti {
        Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue()
    }

    private func setInterest(_ what: Int32, on socket: Int32) {
        let interest: Poller.Interest =
            switch what {
            case CURL_POLL_IN: .read
            case CURL_POLL_OUT: .write
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        poller.setInterest(interest, on: socket)
    }

    private func closeSocket(_ socket: Int32) -> Int32 {
        poller.forget(socket)
        sockets.remove(socket)
        return closeDescriptor(socket)
    }

    // MARK: Transfers

    /// Starts a transfer. It completes on a later turn of the loop, never within this call.
    func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Transfer.ID {
        let transfer = idle.popLast() ?? makeTransfer()
        lastID += 1
        transfer.prepare(request, id: lastID, look: looks, completion: completion)
        inFlight[lastID] = transfer
        if nextLook == nil { nextLook = .now + lookInterval }
        if let needed = request.streams, needed > streams {
            streams = needed
            sleeve_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
        }
        add(transfer)
        return lastID
    }

    private func add(_ transfer: Transfer) {
        if curl_multi_add_handle(multi, transfer.easy) != CURLM_OK { rejected.append(transfer.id) }
    }

    private func startAgain(_ transfer: Transfer) {
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.begin(at: looks)
        add(transfer)
    }

    private func makeTransfer() -> Transfer {
        let transfer = Transfer(configuration: configuration, sockets: sockets, memory: memory)
        sleeve_setopt_pointer(transfer.easy, CURLOPT_SHARE, share)
        sleeve_setopt_pointer(transfer.easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(self).toOpaque())
        sleeve_setopt_closesocket(transfer.easy) { context, socket in CurlMulti.from(context).closeSocket(socket) }
        return transfer
    }

    /// Removes a transfer from the handle.
    /// - Returns: nil if it has ended.
    func remove(_ id: Transfer.ID) -> Transfer? {
        guard let transfer = inFlight.removeValue(forKey: id) else { return nil }
        curl_multi_remove_handle(multi, transfer.easy)
        if !Transfer.usesHandleOnce { idle.append(transfer) }
        return transfer
    }

    /// Whether there is memory for the body of another transfer, as far as is known.
    /// - Parameter unstored: the length of received bodies that wait to be stored: they are in memory, too.
    package func hasRoom(beside unstored: Int) -> Bool { memory.hasRoom(inFlight: inFlight.count, unstored: unstored) }

    func removeAll() -> [Transfer] { Array(inFlight.keys).compactMap { remove($0) } }

    /// Ends an HTTP/2 connection on which nothing has arrived for half the time of a transfer that timed out: its path is lost, and
    /// retries need another one. libcurl keeps it, and would use it for them.
    private func closeIfSilent(_ transfer: Transfer) {
        guard let socket = transfer.openSocket else { return }
        let silence = poller.lastRead(socket).map { .now - $0 } ?? .seconds(86_400)
        // libcurl finds a connection whose end was reached, and opens another one.
        if silence * 2 > .microseconds(transfer.easy.offset(CURLINFO_TOTAL_TIME_T)) { shutdown(socket, Int32(SHUT_RD)) }
    }

    // MARK: Events

    func act(on event: Poller.Event) {
        var mask: Int32 = 0
        if event.ready.contains(.read) { mask |= CURL_CSELECT_IN }
        if event.ready.contains(.write) { mask |= CURL_CSELECT_OUT }
        if event.failed { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, event.socket, mask, &running)
    }

    /// Lets libcurl handle its timer if it has expired. Sends the requests of the transfers that were started since the last call.
    func actOnTimer() {
        guard let deadline, deadline <= .now else { return }
        self.deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// Lets transfers go on whose time is almost over and whose bodies arrive, and those that libcurl has forgotten.
    func lookAtProgress() {
        guard let time = nextLook else { return }
        let now = ContinuousClock.now
        if time > now { return }
        _ = completeEnded()
        // A busy machine skips some.
        let skipped = Int((now - time) / lookInterval)
        looks += skipped + 1
        nextLook = inFlight.isEmpty ? nil : time + lookInterval * (skipped + 1)
        for transfer in inFlight.values {
            transfer.look(at: looks)
            if transfer.isForgotten(at: looks) { startAgain(transfer) }
        }
    }

    /// Completes the transfers that have ended. Their completions may start others.
    /// - Returns: whether there was any.
    func completeEnded() -> Bool {
        var left: Int32 = 0
        var hasCompleted = !rejected.isEmpty
        let rejected = rejected
        self.rejected = []
        for id in rejected {
            if let end = remove(id)?.end(CURLE_FAILED_INIT) { end.completion?(end.result) }
        }
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let transfer = Transfer.of(message.pointee.easy_handle) else {
                continue
            }
            // `remove` invalidates the message.
            let result = message.pointee.data.result
            if transfer.takeOtherConnection(after: result) {
                startAgain(transfer)
                continue
            }
            if result == CURLE_OPERATION_TIMEDOUT, !transfer.isAnswered { closeIfSilent(transfer) }
            let end = transfer.end(result)
            _ = remove(transfer.id)
            end.completion?(end.result)
            hasCompleted = true
        }
        return hasCompleted
    }
}

// `close` is also the name of a method above.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
