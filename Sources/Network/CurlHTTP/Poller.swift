import CLinux
import Platform

/// Waits for sockets: level-triggered epoll on Linux, kqueue on macOS. One thread only.
///
/// Changes of interest are registered with the kernel before the next wait. libcurl removes a socket when its transfer ends and
/// adds it again for the next transfer on the connection: both cancel out and cost no system call.
struct Poller: ~Copyable {
    struct Interest: OptionSet {
        let rawValue: UInt8
        static let read = Interest(rawValue: 1)
        static let write = Interest(rawValue: 2)
    }

    struct Event {
        var socket: Int32
        var ready: Interest
        var failed: Bool
    }

    private struct Registration {
        var wanted: Interest = []
        var registered: Interest = []
        var isPending = false
        /// When it was last ready to be read.
        var lastRead: ContinuousClock.Instant?
    }

    private let descriptor: Int32
    /// Indexed by socket number, which the kernel keeps small.
    private var registrations: [Registration] = []
    private var pending: [Int32] = []

    init() throws(SystemError) {
        #if os(Linux)
            descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        #else
            descriptor = kqueue()
        #endif
        if descriptor < 0 { throw SystemError("epoll_create1") }
    }

    deinit { close(descriptor) }

    mutating func setInterest(_ interest: Interest, on socket: Int32) {
        let index = Int(socket)
        while registrations.count <= index { registrations.append(Registration()) }
        registrations[index].wanted = interest
        if !registrations[index].isPending {
            registrations[index].isPending = true
            pending.append(socket)
        }
    }

    /// Call it before closing `socket`: the kernel may reuse its number immediately.
    mutating func forget(_ socket: Int32) {
        guard Int(socket) < registrations.count else { return }
        registrations[Int(socket)].wanted = []
        registrations[Int(socket)].lastRead = nil
        register(socket)
    }

    /// Waits for events and stores them in `events`. - Parameter milliseconds: maximum time; a negative one means no limit.
    mutating func wait(milliseconds: Int32, into events: inout [Event]) {
        for socket in pending {
            registrations[Int(socket)].isPending = false
            register(socket)
        }
        pending.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        waitForKernel(milliseconds, &events)
        let now = ContinuousClock.now
        for event in events where event.ready.contains(.read) { registrations[Int(event.socket)].lastRead = now }
    }

    /// When a socket was last ready to be read; nil if it never was.
    func lastRead(_ socket: Int32) -> ContinuousClock.Instant? {
        Int(socket) < registrations.count ? registrations[Int(socket)].lastRead : nil
    }

    #if os(Linux)
        private mutating func register(_ socket: Int32) {
            let (wanted, registered) = (registrations[Int(socket)].wanted, registrations[Int(socket)].registered)
            guard wanted != registered else { return }
            var event = epoll_event()
            event.data.fd = socket
            if wanted.contains(.read) { event.events |= EPOLLIN.rawValue }
            if wanted.contains(.write) { event.events |= EPOLLOUT.rawValue }
            let operation = wanted.isEmpty ? EPOLL_CTL_DEL : registered.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
            if epoll_ctl(descriptor, operation, socket, &event) != 0, !wanted.isEmpty {
                // libcurl closes some descriptors without its callback, and another socket may have their number now.
                let other = operation == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
                epoll_ctl(descriptor, other, socket, &event)
            }
            registrations[Int(socket)].registered = wanted
        }

        private func waitForKernel(_ milliseconds: Int32, _ events: inout [Event]) {
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { raw in
                let count = epoll_wait(descriptor, raw.baseAddress, 256, milliseconds)
                for event in raw.prefix(Int(max(count, 0))) {
                    let failed = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
                    var ready: Interest = []
                    if event.events & EPOLLIN.rawValue != 0 { ready.insert(.read) }
                    if event.events & EPOLLOUT.rawValue != 0 { ready.insert(.write) }
                    events.append(Event(socket: event.data.fd, ready: ready, failed: failed))
                }
            }
        }
    #else
        private mutating func register(_ socket: Int32) {
            let (wanted, registered) = (registrations[Int(socket)].wanted, registrations[Int(socket)].registered)
            for (interest, filter) in [(Interest.read, EVFILT_READ), (.write, EVFILT_WRITE)] {
                guard wanted.contains(interest) != registered.contains(interest) else { continue }
                let flags = UInt16(wanted.contains(interest) ? EV_ADD : EV_DELETE)
                var change = kevent(
                    ident: UInt(socket), filter: Int16(filter), flags: flags, fflags: 0, data: 0, udata: nil)
                kevent(descriptor, &change, 1, nil, 0, nil)
            }
            registrations[Int(socket)].registered = wanted
        }

        private func waitForKernel(_ milliseconds: Int32, _ events: inout [Event]) {
            withUnsafeTemporaryAllocation(of: kevent.self, capacity: 256) { raw in
                var limit = timespec(tv_sec: Int(milliseconds) / 1000, tv_nsec: Int(milliseconds) % 1000 * 1_000_000)
                let count =
                    milliseconds < 0
                    ? kevent(descriptor, nil, 0, raw.baseAddress, 256, nil)
                    : kevent(descriptor, nil, 0, raw.baseAddress, 256, &limit)
                for event in raw.prefix(Int(max(count, 0))) {
                    let ready: Interest = Int32(event.filter) == EVFILT_READ ? .read : .write
                    events.append(
                        Event(socket: Int32(event.ident), ready: ready, failed: event.flags & UInt16(EV_ERROR) != 0))
                }
            }
        }
    #endif
}
