import CCurl
import CLinux
import Platform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// libcurl's multi handle driven by socket events (`curl_multi_socket_action`), with its timer and the transfers in flight.
/// Owned by the event loop and touched by its thread alone.
final class CurlMulti {
    /// When libcurl wants to be called at the latest.
    private(set) var deadline: ContinuousClock.Instant?
    private var poller: Poller
    private var inFlight: [ObjectIdentifier: Transfer] = [:]
    private var idle: [Transfer] = []
    private let configuration: HTTPClientConfiguration
    private let multi: UnsafeMutableRawPointer
    /// Lets all transfers resume each other's TLS sessions; libcurl keeps them per easy handle otherwise.
    private let share: UnsafeMutableRawPointer

    init(configuration: HTTPClientConfiguration) throws(SystemError) {
        CurlProcess.prepare()
        poller = try Poller()
        self.configuration = configuration
        multi = curl_multi_init()
        share = curl_share_init()
        sleeve_share_setopt_lock_data(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION)
        let me = Unmanaged.passUnretained(self).toOpaque()
        sleeve_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumConnections)
        sleeve_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, me)
        sleeve_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, me)
        sleeve_multi_setopt_socket(multi) { _, socket, what, context, _ in
            CurlMulti.from(context).want(what, on: socket)
            return 0
        }
        sleeve_multi_setopt_timer(multi) { _, milliseconds, context in
            CurlMulti.from(context).deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
            return 0
        }
    }

    /// To be called on the loop's thread when no transfer is left: closing connections calls back here.
    func close() {
        for transfer in idle { transfer.close() }
        idle = []
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlMulti {
        Unmanaged<CurlMulti>.fromOpaque(context!).takeUnretainedValue()
    }

    private func want(_ what: Int32, on socket: Int32) {
        let interest: Poller.Interest =
            switch what {
            case CURL_POLL_IN: .read
            case CURL_POLL_OUT: .write
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        poller.want(interest, on: socket)
    }

    /// Watches a descriptor that is not libcurl's.
    func watch(_ interest: Poller.Interest, on descriptor: Int32) { poller.want(interest, on: descriptor) }

    func wait(milliseconds: Int32, into events: inout [Poller.Event]) {
        poller.wait(milliseconds: milliseconds, into: &events)
    }

    private func closeSocket(_ socket: Int32) -> Int32 {
        poller.forget(socket)
        return closeDescriptor(socket)
    }

    /// An easy handle that carries no transfer, used before or new.
    func takeIdle() -> Transfer {
        if let transfer = idle.popLast() { return transfer }
        let transfer = Transfer(configuration: configuration)
        sleeve_setopt_pointer(transfer.easy, CURLOPT_SHARE, share)
        sleeve_setopt_pointer(transfer.easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(self).toOpaque())
        sleeve_setopt_closesocket(transfer.easy) { context, socket in CurlMulti.from(context).closeSocket(socket) }
        return transfer
    }

    func add(_ transfer: Transfer) {
        inFlight[ObjectIdentifier(transfer)] = transfer
        curl_multi_add_handle(multi, transfer.easy)
    }

    /// May block while libcurl waits for a name look-up.
    func remove(_ transfer: Transfer) {
        guard inFlight.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
        curl_multi_remove_handle(multi, transfer.easy)
        idle.append(transfer)
    }

    func removeAll() -> [Transfer] {
        let all = Array(inFlight.values)
        for transfer in all { remove(transfer) }
        return all
    }

    func act(on event: Poller.Event) {
        var mask: Int32 = 0
        if event.ready.contains(.read) { mask |= CURL_CSELECT_IN }
        if event.ready.contains(.write) { mask |= CURL_CSELECT_OUT }
        if event.failed { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, event.socket, mask, &running)
    }

    /// Lets libcurl see to its timers, if one is due: among them every transfer added since the last call.
    func actOnTimer() {
        guard let due = deadline, due <= .now else { return }
        deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// Finishes every transfer that has ended; false when there was none. Completions may add others.
    func finishEnded() -> Bool {
        var left: Int32 = 0
        var hasFinished = false
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let code = message.pointee.data.result
            guard let transfer = Transfer.of(message.pointee.easy_handle) else { continue }
            let ending = transfer.end(code)
            remove(transfer)
            ending()
            hasFinished = true
        }
        return hasFinished
    }
}

/// `close`, whose name the class has taken.
func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// What libcurl needs once in a process.
enum CurlProcess {
    private static let once: Void = {
        signal(SIGPIPE, SIG_IGN)
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        raiseDescriptorLimit()
        keepHeap()
    }()

    static func prepare() { once }

    /// libcurl takes a 64 KiB buffer from `malloc` for every transfer and gives it back at its end. By default glibc passes
    /// it on to the kernel and fetches it again, at a page fault for every 4 KiB; up to 32 MiB may wait in the heap instead.
    private static func keepHeap() {
        #if os(Linux)
            mallopt(M_TRIM_THRESHOLD, 32 << 20)
        #endif
    }

    /// Sockets and segments need descriptors; the soft limit is often 1024 where the hard one is far higher.
    private static func raiseDescriptorLimit() {
        #if os(Linux)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 8192)
        setrlimit(files, &limit)
    }
}
