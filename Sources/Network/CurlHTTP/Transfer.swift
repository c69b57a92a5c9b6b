import CCurl
import HTTPTypes
import Platform

/// An easy handle, which is reused if that is safe, and the transfer that it carries.
package final class Transfer {
    /// Identifies one use of the handle. Never reused.
    package typealias ID = UInt64
    package typealias Completion = @Sendable (Result<TransferResponse, TransferError>) -> Void
    /// The end of a use. The handle may be prepared again before the completion is called.
    typealias End = (completion: Completion?, result: Result<TransferResponse, TransferError>)

    private static let accept = "Accept: \(TransferRequest.coverFields[.accept] ?? "")"
    /// libcurl sends it, and decodes the codings that it knows.
    static let acceptedCoding = TransferRequest.coverFields[.acceptEncoding]
    /// Maximum time without a byte of a body that is not kept, in seconds.
    private static let unkeptStall = 2
    /// libcurl's message when it has sent five requests again that ended without an answer. Before 8.17 it counts those of all transfers
    /// of an easy handle, so this one may have been sent once.
    private static let endedResending = "Connection died"
    /// libcurl 7.83 to 8.0 frees the fields of a handle's last response and keeps a pointer to one of them. A line that begins with a blank and is the
    /// first of the next response's fields is appended there: a server could crash this process (curl issue 11101). A handle costs 1 µs.
    static let usesHandleOnce: Bool = {
        let version = curl_version_info(CURLVERSION_FIRST).pointee.version_num
        return (0x07_5300..<0x08_0100).contains(version)
    }()
    /// How often a transfer in flight is looked at within the time that it may take.
    static let looksPerTimeout = 16
    /// A transfer whose body arrives may take as many times the time-out.
    private static let mostTimeouts = 4
    /// The looks without a further byte that end this.
    private static let longestSilence = looksPerTimeout / 4

    let easy: UnsafeMutableRawPointer
    let configuration: HTTPClientConfiguration
    private let sockets: OpenSockets
    private(set) var id: ID = 0
    private let errorText: UnsafeMutablePointer<CChar>
    /// The request's own field lines; nil for those of a cover request.
    private var requestFields: UnsafeMutablePointer<curl_slist>?
    private let coverFields: UnsafeMutablePointer<curl_slist>?

    /// Which connection the transfer takes.
    private enum ConnectionChoice {
        case any, new
        /// A new one, which is closed after the transfer.
        case alone
    }

    // Options that change from use to use. They are set only if they differ: each costs a call.
    private var waitsToMultiplex = false {
        didSet {
            if waitsToMultiplex != oldValue { sleeve_setopt_long(easy, CURLOPT_PIPEWAIT, waitsToMultiplex ? 1 : 0) }
        }
    }
    private var keepsCoding = false
    private var choice = ConnectionChoice.any {
        didSet {
            guard choice != oldValue else { return }
            sleeve_setopt_long(easy, CURLOPT_FRESH_CONNECT, choice == .any ? 0 : 1)
            sleeve_setopt_long(easy, CURLOPT_FORBID_REUSE, choice == .alone ? 1 : 0)
        }
    }
    private var isHTTP1: Bool { didSet { if isHTTP1 != oldValue { setVersion() } } }
    private var addressFamily: AddressFamily? { didSet { if addressFamily != oldValue { setAddressFamily() } } }
    private var lowSpeedTime: Int {
        didSet { if lowSpeedTime != oldValue { sleeve_setopt_long(easy, CURLOPT_LOW_SPEED_TIME, lowSpeedTime) } }
    }
    /// In multiples of the configuration's.
    private var timeout = 1 { didSet { if timeout != oldValue { setTimeout() } } }
    private var connectTimeout: ConnectTimeout {
        didSet {
            guard oldValue.current != connectTimeout.current else { return }
            sleeve_setopt_long(easy, CURLOPT_CONNECTTIMEOUT_MS, connectTimeout.current.inMilliseconds)
        }
    }
    private var isPost = false

    // The state of this use.
    /// Nil after its end.
    private var request: TransferRequest?
    private var url: String { request?.url.string ?? "" }
    /// Of the request's URL.
    private var origin: Substring = ""
    private var onConnection: (@Sendable (ConnectionEvent) -> Bool)? { request?.onConnection }
    /// The look before the transfer began.
    private var begun = 0
    /// The bytes at the last look, and the first look that saw them.
    private var seen = (bytes: 0, look: 0)
    private var body: ReceivedBody
    /// Nothing else of the response is needed, however it ends.
    var isAnswered: Bool { body.isAnswered }
    private var isRefused = false
    private var deniesPrivateAddresses = false
    private var mayConnect = true
    /// `errno` of a socket that this process lacks the resources for; 0 if it has them. libcurl does not keep it.
    private var socketError: Int32 = 0
    private var heads = ResponseHeads()
    private var firstByte: ContinuousClock.Instant?
    /// A request was sent, and no line of its response has arrived.
    private var awaitsAnswer = false
    /// libcurl may send the request again after its connection ended.
    private var mayResend = true
    /// The connection that carries the request, since the request was sent.
    private var connection: OpenSockets.Connection? {
        didSet { if connection !== oldValue { sockets.changed(id, from: oldValue, to: connection) } }
    }
    /// libcurl does nothing for it: it waits for a connection that another transfer opens.
    private var isPending = true
    /// Bytes waited on the connection before the request was sent.
    private var foundBytes = false
    /// A response has set a cookie, or the request carried one.
    private var hasCookies = false
    private var completion: Completion?

    init(configuration: HTTPClientConfiguration, sockets: OpenSockets, memory: BodyMemory) {
        self.configuration = configuration
        self.sockets = sockets
        body = ReceivedBody(memory: memory, limit: configuration.maximumBodySize)
        easy = curl_easy_init()
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        coverFields = curl_slist_append(nil, Self.accept)
        isHTTP1 = configuration.isHTTP1
        lowSpeedTime = configuration.lowSpeedTime
        connectTimeout = ConnectTimeout(configuration)
        setConstantOptions()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(coverFields)
        curl_slist_free_all(requestFields)
        errorText.deallocate()
    }

    /// The transfer of an easy handle.
    static func of(_ easy: UnsafeMutableRawPointer?) -> Transfer? {
        var pointer: UnsafeMutableRawPointer?
        guard let easy, sleeve_getinfo_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK, let pointer else {
            return nil
        }
        return Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    }

    // MARK: Options

    private func setConstantOptions() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sleeve_setopt_pointer(easy, CURLOPT_PRIVATE, context)
        sleeve_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        sleeve_setopt_pointer(easy, CURLOPT_WRITEDATA, context)
        sleeve_setopt_write(easy) { bytes, size, count, context in
            let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Transfer.from(context).body.receive(chunk) ? chunk.count : 0
        }
        sleeve_setopt_pointer(easy, CURLOPT_HEADERDATA, context)
        sleeve_setopt_header(easy) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Transfer.from(context).receive(headLine: line) ? line.count : 0
        }
        sleeve_setopt_long(easy, CURLOPT_NOSIGNAL, 1)
        sleeve_setopt_long(easy, CURLOPT_PATH_AS_IS, 1)
        // Otherwise removing the handle blocks the event loop until a name look-up in progress has ended.
        sleeve_setopt_long(easy, CURLOPT_QUICK_EXIT, 1)
        sleeve_setopt_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        sleeve_setopt_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, coverFields)
        sleeve_setopt_string(easy, CURLOPT_ACCEPT_ENCODING, Self.acceptedCoding)
        setVersion()
        setAddressFamily()
        sleeve_setopt_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        setTimeout()
        sleeve_setopt_long(easy, CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.inMilliseconds)
        sleeve_setopt_long(easy, CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeedLimit)
        sleeve_setopt_long(easy, CURLOPT_LOW_SPEED_TIME, configuration.lowSpeedTime)
        sleeve_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
        sleeve_setopt_opensocket(easy) { context, _, address in
            address.map { Transfer.from(context).openSocket(for: $0) } ?? CURL_SOCKET_BAD
        }
        sleeve_setopt_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
        sleeve_setopt_resolver_start(easy) { _, _, context in
            Transfer.from(context).connects()
            Transfer.from(context).connectTimeout.beginLookUp(at: .now)
            return 0
        }
        sleeve_setopt_pointer(easy, CURLOPT_PREREQDATA, context)
        sleeve_setopt_prereq(easy) { context, peer, local, peerPort, localPort in
            guard let peer, let local else { return CURL_PREREQFUNC_ABORT }
            let endpoints = OpenSockets.Endpoints(
                local: String(cString: local), localPort: Int(localPort), peer: String(cString: peer),
                peerPort: Int(peerPort))
            return Transfer.from(context).willSend(between: endpoints) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        // Starts the cookie engine without a file.
        sleeve_setopt_string(easy, CURLOPT_COOKIEFILE, "")
        if let path = configuration.certificateAuthorities { sleeve_setopt_string(easy, CURLOPT_CAINFO, path) }
        if let path = configuration.certificateDirectory { sleeve_setopt_string(easy, CURLOPT_CAPATH, path) }
    }

    private func setVersion() {
        sleeve_setopt_long(easy, CURLOPT_HTTP_VERSION, isHTTP1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
        // Once a host has spoken HTTP/2, libcurl 7.88 gives a connection of it to several transfers together, whatever that connection speaks: over
        // HTTP/1.1 each would read the others' bytes. Only transfers whose TLS has the same options share connections; this one means nothing to
        // OpenSSL.
        sleeve_setopt_long(easy, CURLOPT_SSL_OPTIONS, isHTTP1 ? Int(CURLSSLOPT_NO_REVOKE) : 0)
    }

    private func setTimeout() {
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, (configuration.timeout * timeout).inMilliseconds)
    }

    private func setAddressFamily() {
        let resolved =
            switch addressFamily ?? configuration.addressFamily {
            case .v4: CURL_IPRESOLVE_V4
            case .v6: CURL_IPRESOLVE_V6
            case nil: CURL_IPRESOLVE_WHATEVER
            }
        sleeve_setopt_long(easy, CURLOPT_IPRESOLVE, Int(resolved))
    }

    /// A connection is being made for it.
    private func connects() {
        isPending = false
        if hasLostConnection { connection = nil }
    }

    /// The connection has ended that carried the request, and libcurl has made no other one for sending it again.
    private var hasLostConnection: Bool { awaitsAnswer && connection?.isOpen == false }

    /// Opens a socket unless the address is refused or the caller declines the connection. A check of the URL would miss names.
    private func openSocket(for address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        connects()
        connectTimeout.endLookUp(at: .now)
        // In place: an IPv6 address is longer than the declared type.
        if deniesPrivateAddresses,
            isRefused || withUnsafePointer(to: &address.pointee.addr, { PrivateAddress.contains($0) })
        {
            isRefused = true
            return CURL_SOCKET_BAD
        }
        if mayConnect, let onConnection {
            mayConnect = onConnection(.opening(others: sockets.connections(to: origin, without: id)))
        }
        guard mayConnect else { return CURL_SOCKET_BAD }
        if let proxy = request?.proxy { sockets.closeIdle(through: proxy.name, leaving: proxy.mostConnections - 1) }
        let descriptor = socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if descriptor >= 0 {
            sockets.add(descriptor, of: id, to: origin, through: request?.proxy?.name)
        } else if TransferError.isLackOfResources(errno) {
            socketError = errno
        }
        return descriptor
    }

    /// Sets the handle up for a request.
    /// - Parameter look: the number of the last look at transfers.
    func prepare(_ request: TransferRequest, id: ID, look: Int = 0, completion: @escaping Completion) {
        self.id = id
        begin(at: look)
        timeout = 1
        (self.request, origin, self.completion) = (request, request.url.origin, completion)
        body.isWanted = request.isWanted
        body.forget()
        lowSpeedTime = configuration.lowSpeedTime
        connectTimeout.reset()
        deniesPrivateAddresses = configuration.deniesPrivateAddresses || request.deniesPrivateAddresses
        // A proxy would connect to it.
        isRefused = deniesPrivateAddresses && PrivateAddress.isNamed(by: request.url)
        (mayConnect, socketError) = (true, 0)
        heads = ResponseHeads(limit: configuration.maximumHeadSize)
        firstByte = nil
        (awaitsAnswer, mayResend) = (false, true)
        forgetConnection()
        setTarget(request)
        waitsToMultiplex = request.waitsToMultiplex
        choice = sockets.distrusts(origin) ? .alone : request.needsNewConnection ? .new : .any
        isHTTP1 = request.isHTTP1 || configuration.isHTTP1
        addressFamily = request.addressFamily
        if isPost || request.post != nil {
            set(post: request.post)
            isPost = request.post != nil
        }
        // A POST has set it as well.
        if !isPost, keepsCoding || request.keepsCoding {
            keepsCoding = request.keepsCoding
            sleeve_setopt_long(easy, CURLOPT_HTTP_CONTENT_DECODING, keepsCoding ? 0 : 1)
        }
        setFields(request)
        setCookies(request.cookies)
    }

    private func setFields(_ request: TransferRequest) {
        let isOwn = !request.headerFields.isEmpty || isPost
        guard isOwn || requestFields != nil else { return }
        curl_slist_free_all(requestFields)
        requestFields = nil
        if isOwn {
            requestFields =
                isPost
                ? suppressedFields(request.headerFields) : curl_slist_append(nil, Self.accept)
            for field in request.headerFields {
                // Validators go back to the byte (RFC 9110 section 8.8.3), and need not be UTF-8.
                let line = field.withUnsafeBytesOfValue { value in
                    // libcurl leaves a field out if its line is the name and a colon.
                    Array(field.name.rawName.utf8) + Array((value.isEmpty ? ";" : ": ").utf8) + value + [0]
                }
                requestFields = line.withUnsafeBytes {
                    curl_slist_append(requestFields, $0.baseAddress?.assumingMemoryBound(to: CChar.self))
                }
            }
        }
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, requestFields ?? coverFields)
    }

    /// Replaces the cookies of the handle's last use.
    private func setCookies(_ cookies: [String]) {
        if hasCookies { sleeve_setopt_string(easy, CURLOPT_COOKIELIST, "ALL") }
        hasCookies = !cookies.isEmpty
        for cookie in cookies { sleeve_setopt_string(easy, CURLOPT_COOKIELIST, cookie) }
    }

    /// The connection is ready, and the request is about to be sent.
    /// - Parameter endpoints: of the connection, which may have been opened for a transfer that denies no addresses.
    /// - Returns: false to end the transfer: the address is refused, libcurl would repeat the request, which its caller does not allow,
    ///   or the connection cannot be used again.
    private func willSend(between endpoints: OpenSockets.Endpoints) -> Bool {
        isPending = false
        if deniesPrivateAddresses, isRefused || !PrivateAddress.isPublic(endpoints.peer) {
            isRefused = true
            return false
        }
        let found = sockets.connection(between: endpoints)
        // RFC 9112 section 9.2: what arrives before a request is no response to it. libcurl would take it for one.
        if let found, found.hasAnswered, found.isReadable {
            sockets.look(at: found)
            foundBytes = true
            return false
        }
        // What was started before its origin was distrusted.
        if choice != .alone, sockets.distrusts(origin) {
            foundBytes = true
            return false
        }
        connection = found
        connection?.begin(for: request?.cover, at: origin)
        if awaitsAnswer {
            // A POST may have had its effect (RFC 9110 section 9.2.2).
            mayResend = !isPost && onConnection?(.resending) ?? true
        }
        awaitsAnswer = true
        body.forget()
        if mayResend { _ = onConnection?(.ready) }
        return mayResend
    }

    // MARK: Receiving

    private func mayBeHTTP2(_ connection: OpenSockets.Connection) -> Bool {
        !isHTTP1 && origin.hasPrefix("https:") && !connection.hasAnswered && !sockets.speakingHTTP1.contains(origin)
    }

    /// An answer over HTTP/1.1 of an origin that has said HTTP/2: one of them is none, and this one may be another transfer's.
    private var isContradiction: Bool {
        !isHTTP1 && choice != .alone && !isPost && sockets.speakingHTTP2.contains(origin)
    }

    /// - Returns: false to end the transfer.
    private func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        // A trailer, which may look like a status line.
        if body.isKept || body.isAnswered { return heads.count(line) }
        let begun = firstByte ?? .now
        firstByte = begun
        awaitsAnswer = false
        if let connection, line.starts(with: "HTTP/1.".utf8) {
            if !connection.hasAnswered, !isHTTP1 { sockets.speakingHTTP1.insert(origin) }
            if isContradiction {
                sockets.distrusted.insert(origin)
                foundBytes = true
                return false
            }
            connection.didAnswer(at: begun, connecting: easy.connectDuration)
        } else if let connection, line.starts(with: "HTTP/".utf8), !connection.hasAnsweredOverHTTP2 {
            // libcurl 7.88 believes it, and from then on lets the origin's connections of HTTP/1.1 carry several requests at a time.
            if mayBeHTTP2(connection) {
                connection.hasAnsweredOverHTTP2 = true
                sockets.speakingHTTP2.insert(origin)
            } else {
                sockets.distrusted.insert(origin)
            }
        }
        let wasComplete = heads.isComplete
        guard heads.receive(line) else { return false }
        if heads.setsCookie { hasCookies = true }
        return wasComplete || !heads.isComplete || beginBody()
    }

    /// A head is complete.
    /// - Returns: false to end the transfer.
    private func beginBody() -> Bool {
        let status = easy.long(CURLINFO_RESPONSE_CODE)
        // An interim response, or a proxy's to CONNECT.
        if status < 200 { return true }
        let announced = heads.announcedLength ?? 0
        guard isPost ? status < 300 : [200, 203, 206].contains(status) else {
            let isShort = body.beginUnkept(announced, isRefusal: TransferResponse.refusals.contains(status))
            // No body follows, whatever the length says.
            if status == 204 || status == 304 { return true }
            // libcurl counts the time before the answer, too.
            let elapsed = Int(easy.offset(CURLINFO_STARTTRANSFER_TIME_T) / 1_000_000) + 1
            lowSpeedTime = min(elapsed + Self.unkeptStall, configuration.lowSpeedTime)
            return isShort && !heads.hasInvalidLength
        }
        return body.begin(announced)
    }

    /// libcurl's time for the transfer begins.
    /// - Parameter look: the number of the last look.
    func begin(at look: Int) { (begun, seen) = (look, (0, look)) }

    /// Before the time of the transfer is over, lets it take as long again if its body arrives, and the rest would at this rate, too. Otherwise
    /// libcurl ends it: a transfer that takes its time over little holds a place that others could use.
    /// - Parameter look: the number of this look.
    func look(at look: Int) {
        let received = body.received
        if received != seen.bytes { seen = (received, look) }
        let age = look - begun
        guard body.isKept, received > 0, age >= timeout * Self.looksPerTimeout - 2, timeout < Self.mostTimeouts,
            look - seen.look < Self.longestSilence,
            (heads.announcedLength ?? 0) / (Self.mostTimeouts * Self.looksPerTimeout) <= received / age
        else { return }
        timeout += 1
        _ = onConnection?(.overdue)
    }

    /// Whether libcurl may have forgotten it. When a connection is ready or ends, libcurl 7.88 wakes one of the transfers that wait for one, whichever
    /// host it is for, and none of them times out. Those wait as well whose request is to be sent again.
    func isForgotten(at look: Int) -> Bool { hasLostConnection || isPending && look - begun > 1 }

    // MARK: Completing

    /// The socket of the connection; nil if it is closed.
    var openSocket: Int32? { connection.flatMap { $0.isOpen ? $0.socket : nil } }

    /// Prepares the handle for the same request once more, if it has met bytes that are no answer to it. libcurl has closed the connection.
    /// That happens twice at most: nothing but a distrusted origin is met on a new connection, and nothing on one of its own.
    /// - Returns: false if the transfer has ended.
    func takeOtherConnection(after code: CURLcode) -> Bool {
        let haveCrossed =
            code == CURLE_UNSUPPORTED_PROTOCOL && awaitsAnswer && !isPost && connection?.hasAnswered == true
        guard foundBytes || haveCrossed else { return false }
        // The attempt counts as none.
        if haveCrossed { awaitsAnswer = false }
        choice = sockets.distrusts(origin) ? .alone : .new
        forgetConnection()
        return true
    }

    private func forgetConnection() {
        (connection, isPending, foundBytes) = (nil, true, false)
        errorText[0] = 0
    }

    /// Ends the use with libcurl's result.
    func end(_ code: CURLcode) -> End {
        if hasBytesBehindCoding(code), let status = easy.status {
            return end(with: .success(response(status, BodyExtent(of: easy, heads))))
        }
        if code == CURLE_OK, let connection, connection.wasBroughtDown(under: id), hasSurplus {
            sockets.didFindAnswer(on: connection)
        }
        let isResponse = code == CURLE_OK || isAnswered || endedWithoutNotice(code)
        return end(with: isResponse ? checkedResponse() : .failure(error(code)))
    }

    /// The same with the error `cancelled`.
    func cancel() -> End { end(with: .failure(failure(.cancelled, "cancelled"))) }

    private func end(with result: Result<TransferResponse, TransferError>) -> End {
        defer {
            completion = nil
            request = nil
            body.isWanted = nil
            connection = nil
            body.forget()
        }
        let result = result.mapError { error in
            var error = error
            error.microseconds = Int(easy.offset(CURLINFO_TOTAL_TIME_T))
            return error
        }
        return (completion, result)
    }

    /// A server over TLS has marked the end of the body by closing the connection, without TLS's own notice (RFC 9112 section 9.8). The
    /// response is as one over TCP: its end is not marked.
    private func endedWithoutNotice(_ code: CURLcode) -> Bool {
        code == CURLE_RECV_ERROR && body.received > 0 && easy.long(CURLINFO_HTTP_VERSION) < CURL_HTTP_VERSION_2_0
            && heads.first(.transferEncoding) == nil && heads.first(.contentLength) == nil
            && easy.message(code, errorText).contains(.endedInHandshake)
    }

    /// A body in gzip or deflate has ended, and bytes follow in its content. libcurl calls that an error of the program that takes the body;
    /// gzip(1) ignores such bytes.
    private func hasBytesBehindCoding(_ code: CURLcode) -> Bool {
        code == CURLE_WRITE_ERROR && body.received > 0 && !body.isTooLarge && !heads.isTooLarge && heads.isComplete
            && heads.first(.contentEncoding) != nil
    }

    /// Whether libcurl has closed the connection because more followed a complete body in one read, which it drops ("Excess found"). These are
    /// all other reasons for which libcurl 7.88 to 8.9 closes a connection at the end of a response of HTTP/1.1 that has a length.
    private var hasSurplus: Bool {
        easy.long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_1_1 && heads.announcedLength != nil && !heads.closes
            && !isPost && choice != .alone && sockets.count < configuration.maximumConnections
    }

    private func failure(_ kind: TransferError.Kind, _ detail: String) -> TransferError {
        TransferError(kind, url: url, detail: detail)
    }

    /// The response, unless libcurl accepted one that is not complete.
    private func checkedResponse() -> Result<TransferResponse, TransferError> {
        if !heads.isComplete { return .failure(failure(.broken, "the response ended within its header fields")) }
        if heads.hasInvalidLength, !isAnswered {
            return .failure(failure(.broken, "the response's length is no number, or several that differ"))
        }
        guard let status = easy.status else {
            let code = easy.long(CURLINFO_RESPONSE_CODE)
            return .failure(failure(.broken, "the server answered with the invalid status \(code)"))
        }
        let extent = BodyExtent(of: easy, heads)
        // RFC 9112 section 8, RFC 9113 section 8.1.1. libcurl does not check all of it over HTTP/2.
        if let announced = extent.announced, announced != extent.received, !isAnswered {
            return .failure(
                failure(.truncated, "the body has \(extent.received) bytes instead of the announced \(announced)"))
        }
        // Without a range in the request, a 206 for everything is what a 200 would be (RFC 9110 section 15.3.7).
        let isWhole = status == .partialContent && extent.isWhole
        return .success(response(isWhole ? .ok : status, extent))
    }

    private func response(_ status: HTTPResponse.Status, _ extent: BodyExtent) -> TransferResponse {
        let isRedirect = status.kind == .redirection
        var response = TransferResponse(
            head: HTTPResponse(status: status, headerFields: ResponseFields.cached(heads.fields)),
            body: body.bytes,
            location: isRedirect ? heads.location.flatMap { request?.url.resolving($0) } : nil,
            isHTTP2: easy.long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0,
            microseconds: Int(easy.offset(CURLINFO_TOTAL_TIME_T)))
        response.refusal = body.refusal
        response.timings = easy.timings(body: firstByte.map { $0.microseconds(to: .now) } ?? 0)
        response.isEndMarked = extent.isEndMarked
        if isRedirect, hasCookies { response.cookies = easy.cookies }
        return response
    }

    /// Whether HTTP/1.1 may do better. GOAWAY with an error, HTTP_1_1_REQUIRED say, is for libcurl 7.88 the end or the reset of a connection without
    /// an answer, and it names no version then.
    private func isOfHTTP2(_ code: CURLcode) -> Bool {
        if code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM { return true }
        return awaitsAnswer && request?.url.isHTTPS == true && !isHTTP1
            && [CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(code)
    }

    private func error(_ code: CURLcode) -> TransferError {
        if !mayConnect { return failure(.cancelled, "cancelled instead of opening a connection") }
        if isRefused, code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK {
            return failure(.refusedAddress, "its address is not on the open Internet, and such are refused")
        }
        if awaitsAnswer, easy.message(code, errorText).hasPrefix(Self.endedResending) {
            if mayResend, !isPost, onConnection?(.resending) ?? false {
                return failure(.cancelled, "put off until it is sent again")
            }
            mayResend = false
        }
        if !mayResend { return failure(.broken, TransferError.noAnswer) }
        if code == CURLE_BAD_CONTENT_ENCODING {
            let coding = heads.first(.contentEncoding)?.shortened(to: 60) ?? ""
            return failure(
                .coding, "its content coding '\(coding)' cannot be decoded: \(easy.message(code, errorText))")
        }
        // What libcurl says of a single line of 100 KB: from 8.6 on CURLE_TOO_LARGE (100), which older headers lack.
        let isLongLine =
            (code.rawValue == 100 || code == CURLE_OUT_OF_MEMORY) && firstByte != nil && body.received == 0
        if heads.isTooLarge || isLongLine {
            return failure(
                .tooLarge,
                "the response's header fields are more than \(configuration.maximumHeadSize) bytes or \(ResponseHeads.maximumLines) lines"
            )
        }
        var text = easy.message(code, errorText)
        if code == CURLE_OPERATION_TIMEDOUT { text = easy.timeoutDetail(BodyExtent(of: easy, heads), text) }
        var error = TransferError(
            code, url: url, isTooLarge: body.isTooLarge, received: body.received, limit: body.limit,
            text: text,
            systemError: socketError == 0 ? Int32(easy.long(CURLINFO_OS_ERRNO)) : socketError)
        error.isOfHTTP2 = isOfHTTP2(code)
        if code == CURLE_OPERATION_TIMEDOUT {
            if awaitsAnswer { error.silentFamily = connection?.family }
            error.isPartial = body.isKept && body.received > 0
        }
        return error
    }
}
