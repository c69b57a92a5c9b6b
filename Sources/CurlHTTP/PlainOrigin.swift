import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server's address, numeric.
struct PlainAddress {
    let host: String
    private var storage = sockaddr_storage()
    private let length: socklen_t

    /// Nil: it is no numeric address. - Parameter host: without brackets.
    init?(host: String, port: UInt16) {
        self.host = host
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        length = found.pointee.ai_addrlen
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: found.pointee.ai_addr, count: Int(length)))
        }
    }

    var isPrivate: Bool { withSocketAddress { PrivateAddress.contains($0) } }

    /// A socket on its way to the address; negative when there is none.
    func openSocket() -> Int32 {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let opened = socket(Int32(storage.ss_family), stream, 0)
        if opened < 0 { return -1 }
        _ = fcntl(opened, F_SETFL, O_NONBLOCK)
        _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        setsockopt(opened, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        if withSocketAddress({ connect(opened, $0, length) }) == 0 || errno == EINPROGRESS { return opened }
        close(opened)
        return -1
    }

    private func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self)) }
    }
}

/// What `PlainHTTP` knows of an origin.
final class PlainOrigin {
    let address: PlainAddress
    /// A name may lead elsewhere by then.
    private var validUntil: ContinuousClock.Instant
    /// Connections with nothing under way, the last used last.
    var idle: [PlainConnection] = []
    private var answers = 0
    private var unusual = 0
    /// What is the same in all requests: what follows the target.
    private let fields: [UInt8]

    init(_ url: HTTPURL, _ address: PlainAddress, until end: ContinuousClock.Instant, userAgent: String) {
        self.address = address
        validUntil = end
        fields = WrittenRequests.common(url, userAgent: userAgent)
    }

    func write(_ request: TransferRequest, to bytes: inout [UInt8]) {
        WrittenRequests.write(request.url, fields, to: &bytes) { bytes in
            for field in request.headerFields {
                bytes += field.name.rawName.utf8
                bytes += ": ".utf8
                bytes += field.value.utf8
                bytes += "\r\n".utf8
            }
        }
    }

    /// Whether the address is to be found out anew.
    func isOutdated(at now: ContinuousClock.Instant) -> Bool { now >= validUntil }

    /// Somebody finds it out: nobody else need for so long.
    func isLookedUp(until time: ContinuousClock.Instant) { validUntil = time }

    /// Nearly all it answers can be read here. What cannot is asked for twice.
    var isUsual: Bool { unusual * 16 <= answers + 16 }

    func answered(_ count: Int = 1) { answers += count }
    func wasUnusual() { unusual += 1 }
}
