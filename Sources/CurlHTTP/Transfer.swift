import CCurl
import HTTPTypes
import Platform

/// A reused easy handle and the transfer that it carries.
package final class Transfer {
    /// Identifies one use of the handle. Never reused.
    package typealias ID = UInt64
    package typealias Completion = @Sendable (Result<TransferResponse, TransferError>) -> Void

    let easy: UnsafeMutableRawPointer
    let configuration: HTTPClientConfiguration
    private let sockets: OpenSockets
    private(set) var id: ID = 0
    private let errorText: UnsafeMutablePointer<CChar>
    /// The request's own field lines; nil for those of a cover request.
    private var requestFields: UnsafeMutablePointer<curl_slist>?
    private let coverFields: UnsafeMutablePointer<curl_slist>?

    // Options that change from use to use. They are set only if they differ: each costs a call.
    private var waitsToMultiplex = false
    private var staysWithTLS = false
    /// The environment may name a proxy for http URLs.
    private let hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { (name: String) in
        getenv(name).map { $0[0] != 0 } ?? false
    }
    private var followsRedirects = true
    /// The head of a relayed request's response; nil for a cover request.
    var relayed: RelayedHead?

    // The state of this use.
    private var requested: HTTPURL?
    private var url: String { requested?.string ?? "" }
    private var origin: Substring = ""
    private var body: [UInt8] = []
    private var received = 0
    private var keepsBody = false
    private var isTooLarge = false
    private var isRefused = false
    private var mayConnect = true
    private var heads = ResponseHeads()
    private var firstByte: ContinuousClock.Instant?
    private var resumption: Resumption?
    private var completion: Completion?
    private var onConnection: (@Sendable (ConnectionEvent) -> Bool)?

    init(configuration: HTTPClientConfiguration, sockets: OpenSockets) {
        self.configuration = configuration
        self.sockets = sockets
        easy = curl_easy_init()
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        coverFields = curl_slist_append(nil, "Accept: image/*")
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
            Transfer.from(context).receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        sleeve_setopt_pointer(easy, CURLOPT_HEADERDATA, context)
        sleeve_setopt_header(easy) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Transfer.from(context).receive(headLine: line) ? line.count : 0
        }
        sleeve_setopt_long(easy, CURLOPT_NOSIGNAL, 1)
        sleeve_setopt_long(easy, CURLOPT_PATH_AS_IS, 1)
        // Otherwise removing the handle blocks the event loop until a name look-up in progress has ended.
        sleeve_setopt_quick_exit(easy)
        sleeve_setopt_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        sleeve_setopt_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, coverFields)
        sleeve_setopt_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        sleeve_setopt_long(easy, CURLOPT_FOLLOWLOCATION, 1)
        sleeve_setopt_long(easy, CURLOPT_MAXREDIRS, configuration.maximumRedirects)
        sleeve_setopt_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        sleeve_setopt_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, configuration.timeout.inMilliseconds)
        sleeve_setopt_long(easy, CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.inMilliseconds)
        sleeve_setopt_long(easy, CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeedLimit)
        sleeve_setopt_long(easy, CURLOPT_LOW_SPEED_TIME, configuration.lowSpeedTime)
        sleeve_setopt_off(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(configuration.maximumBodySize))
        sleeve_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
        sleeve_setopt_opensocket(easy) { context, _, address in
            address.map { Transfer.from(context).openSocket(for: $0) } ?? CURL_SOCKET_BAD
        }
        sleeve_setopt_pointer(easy, CURLOPT_PREREQDATA, context)
        sleeve_setopt_prereq(easy) { context, _, _, _, _ in
            _ = Transfer.from(context).onConnection?(.ready)
            return CURL_PREREQFUNC_OK
        }
        if let path = configuration.certificateAuthorities { sleeve_setopt_string(easy, CURLOPT_CAINFO, path) }
    }

    /// Opens a socket unless the address is refused or the caller declines the connection. A check of the URL would miss names and
    /// redirects.
    private func openSocket(for address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        // In place: an IPv6 address is longer than the declared type.
        if configuration.deniesPrivateAddresses,
            withUnsafePointer(to: &address.pointee.addr, { PrivateAddress.contains($0) })
        {
            isRefused = true
            return CURL_SOCKET_BAD
        }
        if mayConnect, let onConnection {
            mayConnect = onConnection(.opening(others: sockets.connections(to: origin, without: id)))
        }
        guard mayConnect else { return CURL_SOCKET_BAD }
        let descriptor = socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if descriptor >= 0 { sockets.add(descriptor, of: id, to: origin) }
        return descriptor
    }

    /// Sets the handle up for a request.
    func prepare(_ request: TransferRequest, id: ID, completion: @escaping Completion) {
        self.id = id
        self.completion = completion
        onConnection = request.onConnection
        requested = request.url
        origin = request.url.origin
        body = []
        received = 0
        keepsBody = false
        isTooLarge = false
        isRefused = false
        mayConnect = true
        heads = ResponseHeads(limit: configuration.maximumHeadSize)
        firstByte = nil
        resumption = request.continuing.map { Resumption($0.body) }
        errorText[0] = 0
        setTarget(request)
        if waitsToMultiplex != request.waitsToMultiplex {
            waitsToMultiplex = request.waitsToMultiplex
            sleeve_setopt_long(easy, CURLOPT_PIPEWAIT, waitsToMultiplex ? 1 : 0)
        }
        let staysWithTLS = request.url.isHTTPS && !configuration.allowsDowngrades
        if self.staysWithTLS != staysWithTLS {
            self.staysWithTLS = staysWithTLS
            sleeve_setopt_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, staysWithTLS ? "https" : "http,https")
        }
        let followsRedirects = request.followsRedirects && request.relay == nil
        if self.followsRedirects != followsRedirects {
            self.followsRedirects = followsRedirects
            sleeve_setopt_long(easy, CURLOPT_FOLLOWLOCATION, followsRedirects ? 1 : 0)
        }
        if relayed != nil || request.relay != nil { setRelay(request.relay) }
        setFields(request)
    }

    /// Sets the URL, and the request target to the byte: some releases of libcurl drop an empty query and change the case of
    /// percent-encodings.
    private func setTarget(_ request: TransferRequest) {
        sleeve_setopt_string(easy, CURLOPT_URL, request.url.requestURL)
        // A target of its own would also be sent to where libcurl follows a redirect, and to a proxy that needs the whole URL.
        let isOwn = (!request.followsRedirects || request.relay != nil) && !(hasProxy && !request.url.isHTTPS)
        sleeve_setopt_string(easy, CURLOPT_REQUEST_TARGET, isOwn ? String(request.url.target) : nil)
    }

    private func setFields(_ request: TransferRequest) {
        let isOwn = !request.headerFields.isEmpty || relayed != nil
        guard isOwn || requestFields != nil else { return }
        curl_slist_free_all(requestFields)
        requestFields = nil
        if isOwn {
            requestFields =
                relayed == nil
                ? curl_slist_append(nil, "Accept: image/*") : Self.suppressedFields(request.headerFields)
            for field in request.headerFields {
                // libcurl leaves a field out if its line is the name and a colon.
                let line = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
                requestFields = curl_slist_append(requestFields, line)
            }
        }
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, requestFields ?? coverFields)
    }

    // MARK: Receiving

    /// - Returns: false to end the transfer.
    private func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        if firstByte == nil { firstByte = .now }
        guard heads.receive(line) else { return false }
        relayed?.receive(line)
        return true
    }

    /// - Returns: the length of the chunk; any other number ends or pauses the transfer.
    private func receive(_ chunk: UnsafeRawBufferPointer) -> Int {
        if let stream = relayed?.stream { return pass(chunk, to: stream) }
        if received == 0, !beginBody() { return 0 }
        received += chunk.count
        if received > configuration.maximumBodySize {
            isTooLarge = true
            return 0
        }
        if keepsBody { body.append(contentsOf: chunk) }
        return chunk.count
    }

    /// - Returns: false to end the transfer: the part that comes does not continue the resumed body.
    private func beginBody() -> Bool {
        let status = easy.long(CURLINFO_RESPONSE_CODE)
        keepsBody = (200..<300).contains(status) || relayed != nil
        if status == 206, let partial = resumption?.body {
            guard resumption?.begin(ResponseFields.contentRange(of: easy)) == true else { return false }
            body = partial
            received = partial.count
        } else if keepsBody {
            // libcurl checks the announced length. The limit bounds the allocation.
            let announced = Int(easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
            body.reserveCapacity(min(max(announced, 0), configuration.maximumBodySize))
        }
        return true
    }

    private func pass(_ chunk: UnsafeRawBufferPointer, to stream: ResponseStream) -> Int {
        if received == 0 {
            let status = HTTPResponse.Status(code: easy.long(CURLINFO_RESPONSE_CODE))
            stream.begin(HTTPResponse(status: status, headerFields: relayed?.fields ?? [:]))
        }
        guard stream.offer(chunk) else { return Int(CURL_WRITEFUNC_PAUSE) }
        received += chunk.count
        return chunk.count
    }

    // MARK: Completing

    /// The end of a use. The handle may be prepared again before `run` is called.
    struct Ending {
        fileprivate let completion: Completion?
        fileprivate let result: Result<TransferResponse, TransferError>

        /// Calls the completion.
        func run() { completion?(result) }
    }

    /// Ends the use with libcurl's result.
    func end(_ code: CURLcode) -> Ending {
        complete(with: code == CURLE_OK ? checkedResponse() : .failure(error(code)))
    }

    /// Ends the use with the error `cancelled`.
    func cancel() -> Ending { complete(with: .failure(failure(.cancelled, "cancelled"))) }

    private func complete(with result: Result<TransferResponse, TransferError>) -> Ending {
        defer {
            completion = nil
            onConnection = nil
            body = []
            resumption = nil
        }
        let result = result.mapError { error in
            var error = error
            error.microseconds = Int(easy.offset(CURLINFO_TOTAL_TIME_T))
            return error
        }
        return Ending(completion: completion, result: result)
    }

    private func failure(_ kind: TransferError.Kind, _ detail: String) -> TransferError {
        TransferError(kind, url: url, detail: detail)
    }

    /// The response, unless libcurl accepted one that is not complete.
    private func checkedResponse() -> Result<TransferResponse, TransferError> {
        if let resumption, resumption.isUnderWay, resumption.length.map({ $0 != body.count }) ?? false {
            return .failure(failure(.truncated, "the rest of the body is not as long as announced"))
        }
        if !heads.isComplete { return .failure(failure(.broken, "the response ended within its header fields")) }
        // RFC 9112 section 6.3: the end of the body is ambiguous.
        if ResponseFields.hasDifferentLengths(easy) {
            return .failure(failure(.broken, "the response has several lengths that differ"))
        }
        return .success(response())
    }

    private func response() -> TransferResponse {
        let status = resumption?.isUnderWay == true ? 200 : easy.long(CURLINFO_RESPONSE_CODE)
        var redirectedTo: String?
        var redirects: [HTTPResponse] = []
        if easy.long(CURLINFO_REDIRECT_COUNT) > 0 {
            let last = easy.string(CURLINFO_EFFECTIVE_URL) ?? ""
            redirectedTo = Redaction.removingUserInfo(last)
            if redirectedTo == last { redirects = heads.redirects(from: easy) }
        }
        let isRedirect = !followsRedirects && (300..<400).contains(status)
        var response = TransferResponse(
            head: HTTPResponse(
                status: .init(code: status), headerFields: relayed?.fields ?? ResponseFields.read(from: easy)),
            body: body,
            location: isRedirect ? ResponseFields.location(of: easy).flatMap { requested?.resolving($0) } : nil,
            redirectedTo: redirectedTo,
            redirects: redirects, isHTTP2: easy.long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0,
            microseconds: Int(easy.offset(CURLINFO_TOTAL_TIME_T)))
        response.timings = timings()
        return response
    }

    /// libcurl's times begin when it chooses a connection, except for the whole time: the body is measured here.
    private func timings() -> TransferTimings {
        var timings = TransferTimings()
        var end = 0
        // A handshake that did not take place has the time 0, or that of the stage before it.
        func stage(_ info: CURLINFO) -> Int {
            let time = Int(easy.offset(info))
            defer { end = max(end, time) }
            return max(0, time - end)
        }
        timings.name = stage(CURLINFO_NAMELOOKUP_TIME_T)
        timings.connect = stage(CURLINFO_CONNECT_TIME_T)
        timings.tls = stage(CURLINFO_APPCONNECT_TIME_T)
        timings.firstByte = stage(CURLINFO_STARTTRANSFER_TIME_T)
        timings.body = firstByte.map { $0.microseconds(to: .now) } ?? 0
        var connection: curl_off_t = 0
        sleeve_getinfo_connection(easy, &connection)
        timings.connection = Int(connection)
        return timings
    }

    private func error(_ code: CURLcode) -> TransferError {
        if !mayConnect { return failure(.cancelled, "cancelled instead of opening a connection") }
        if isRefused, code == CURLE_COULDNT_CONNECT {
            return failure(.refusedAddress, "its address is not on the open Internet, and such are refused")
        }
        // With redirects it means a redirect to another protocol.
        if code == CURLE_UNSUPPORTED_PROTOCOL, !followsRedirects {
            return failure(.broken, "the server does not answer with HTTP")
        }
        if resumption?.isMisplaced == true {
            return failure(.truncated, "the server sent another part of the body than the rest")
        }
        // For a single line of 100 KB, libcurl has no other code.
        if heads.isTooLarge || (code == CURLE_OUT_OF_MEMORY && received == 0) {
            // For a relayed request, `tooLarge` means that the body can be streamed.
            return failure(
                relayed == nil ? .tooLarge : .truncated,
                "the response's header fields are larger than \(configuration.maximumHeadSize) bytes")
        }
        var error = TransferError(
            code, url: url, isTooLarge: isTooLarge, received: received, limit: configuration.maximumBodySize,
            text: text(of: code))
        if !isTooLarge, relayed == nil, keepsBody, body.count >= PartialBody.minimumLength {
            error.partial = PartialBody(body: body, fields: ResponseFields.read(from: easy))
        }
        return error
    }

    /// libcurl's message. If it could not connect, the system's reason replaces libcurl's general one.
    private func text(of code: CURLcode) -> String {
        if errorText[0] == 0 { return String(cString: curl_easy_strerror(code)) }
        var text = String(cString: errorText)
        while text.last == " " { text.removeLast() }
        let number = easy.long(CURLINFO_OS_ERRNO)
        guard code == CURLE_COULDNT_CONNECT, number != 0, let end = text.lastIndex(of: ":") else { return text }
        return text[...end] + " " + String(cString: strerror(Int32(number)))
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func long(_ info: CURLINFO) -> Int {
        var value = 0
        sleeve_getinfo_long(self, info, &value)
        return value
    }

    fileprivate func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        sleeve_getinfo_off(self, info, &value)
        return value
    }

    fileprivate func string(_ info: CURLINFO) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        sleeve_getinfo_string(self, info, &text)
        return text.map { String(cString: $0) }
    }
}

extension Duration {
    var inMilliseconds: Int { Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}
