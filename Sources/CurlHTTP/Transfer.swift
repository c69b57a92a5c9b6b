import CCurl
import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A reused easy handle and the transfer it carries.
// because: touched on the event loop alone; others only hold it as a token to cancel with.
package final class Transfer: @unchecked Sendable {
    package typealias Completion = @Sendable (Result<TransferResponse, TransferError>) -> Void

    let easy: UnsafeMutableRawPointer
    let configuration: HTTPClientConfiguration
    private let errorText: UnsafeMutablePointer<CChar>
    private var acceptOnly: UnsafeMutablePointer<curl_slist>?
    private var requestFields: UnsafeMutablePointer<curl_slist>?

    private var url = ""
    private var body: ResponseBody?
    private var received = 0
    private var keepsBody = false
    private var isTooLarge = false
    private var heads = ResponseHeads()
    private var isRefused = false
    private var waitsToMultiplex = false
    private var staysWithTLS = false
    private var isPost = false
    private var follows = true
    private var resumption: Resumption?
    /// The head of a relayed request's response; nil: a cover is asked for.
    var relayed: RelayedHead?
    private var completion: Completion?
    /// Counts the uses of this handle, so that a token of an earlier use cancels nothing.
    private(set) var use = 0

    init(configuration: HTTPClientConfiguration) {
        self.configuration = configuration
        easy = curl_easy_init()
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        acceptOnly = curl_slist_append(nil, "Accept: image/*")
        setUp()
    }

    deinit {
        curl_slist_free_all(acceptOnly)
        curl_slist_free_all(requestFields)
        errorText.deallocate()
    }

    /// Ends the handle's life, on the loop's thread; tokens may outlive it.
    func close() {
        use += 1
        curl_easy_cleanup(easy)
    }

    static func of(_ easy: UnsafeMutableRawPointer?) -> Transfer? {
        var pointer: UnsafeMutableRawPointer?
        guard let easy, sleeve_getinfo_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK, let pointer else {
            return nil
        }
        return Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Options that stay the same for every use of the handle.
    private func setUp() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        sleeve_setopt_pointer(easy, CURLOPT_PRIVATE, me)
        sleeve_setopt_pointer(easy, CURLOPT_WRITEDATA, me)
        sleeve_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        sleeve_setopt_write(easy) { bytes, size, count, context in
            let transfer = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
            return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        sleeve_setopt_pointer(easy, CURLOPT_HEADERDATA, me)
        sleeve_setopt_header(easy) { bytes, size, count, context in
            let transfer = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard transfer.heads.take(line) else { return 0 }
            transfer.relayed?.take(line)
            return line.count
        }
        sleeve_setopt_long(easy, CURLOPT_NOSIGNAL, 1)
        sleeve_setopt_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
        sleeve_setopt_string(easy, CURLOPT_USERAGENT, configuration.userAgent)
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, acceptOnly)
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
        if configuration.deniesPrivateAddresses { denyPrivateAddresses(me) }
        if let path = configuration.certificateAuthorities { sleeve_setopt_string(easy, CURLOPT_CAINFO, path) }
    }

    /// Looks at an address before it is connected to: a name may lead anywhere, and so may a redirect.
    private func denyPrivateAddresses(_ me: UnsafeMutableRawPointer) {
        sleeve_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, me)
        sleeve_setopt_opensocket(easy) { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            if withUnsafePointer(to: &address.pointee.addr, { PrivateAddress.contains($0) }) {
                Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().isRefused = true
                return CURL_SOCKET_BAD
            }
            return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        }
    }

    func prepare(_ request: TransferRequest, completion: @escaping Completion) {
        use += 1
        url = request.url.string
        received = 0
        keepsBody = false
        isTooLarge = false
        heads = ResponseHeads(limit: configuration.maximumHeadSize)
        isRefused = false
        resumption = request.continuing.map { Resumption($0.body) }
        errorText[0] = 0
        self.completion = completion
        sleeve_setopt_string(easy, CURLOPT_URL, url)
        if waitsToMultiplex != request.waitsToMultiplex {
            waitsToMultiplex = request.waitsToMultiplex
            sleeve_setopt_long(easy, CURLOPT_PIPEWAIT, waitsToMultiplex ? 1 : 0)
        }
        let staysWithTLS = request.url.isHTTPS && !configuration.allowsDowngrades
        if self.staysWithTLS != staysWithTLS {
            self.staysWithTLS = staysWithTLS
            sleeve_setopt_string(easy, CURLOPT_REDIR_PROTOCOLS_STR, staysWithTLS ? "https" : "http,https")
        }
        // Of what is posted and of what is handed on, none.
        let follows = request.followsRedirects && request.postedJSON == nil && request.relay == nil
        if self.follows != follows {
            self.follows = follows
            sleeve_setopt_long(easy, CURLOPT_FOLLOWLOCATION, follows ? 1 : 0)
        }
        if relayed != nil { setRelay(nil) }
        if isPost || request.postedJSON != nil { setBody(request.postedJSON) }
        if let relay = request.relay { setRelay(relay) }
        setFields(request)
    }

    private func setBody(_ body: [UInt8]?) {
        isPost = body != nil
        guard var body else {
            sleeve_setopt_pointer(easy, CURLOPT_POSTFIELDS, nil)
            sleeve_setopt_long(easy, CURLOPT_HTTPGET, 1)
            return
        }
        sleeve_setopt_off(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        // libcurl copies as many bytes as it has been told of before.
        _ = body.withUnsafeMutableBytes { sleeve_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress!) }
    }

    private func setFields(_ request: TransferRequest) {
        let hasOwn = !request.headerFields.isEmpty || isPost || relayed != nil
        guard hasOwn || requestFields != nil else { return }
        curl_slist_free_all(requestFields)
        requestFields = nil
        if hasOwn {
            if relayed != nil {
                requestFields = Self.silenced(request.headerFields)
            } else {
                requestFields = curl_slist_append(nil, isPost ? "Accept: application/json" : "Accept: image/*")
            }
            if isPost {
                requestFields = curl_slist_append(requestFields, "Content-Type: application/json")
                // An empty value keeps libcurl from asking first, which costs a second where servers do not answer that.
                requestFields = curl_slist_append(requestFields, "Expect:")
            }
            for field in request.headerFields {
                // libcurl takes a name with a colon alone for a field to leave out.
                let line = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
                requestFields = curl_slist_append(requestFields, line)
            }
        }
        sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, requestFields ?? acceptOnly)
    }

    /// Takes a piece of the body, and says of how many bytes; fewer than there are stop the transfer.
    private func take(_ chunk: UnsafeRawBufferPointer) -> Int {
        if let pipe = relayed?.pipe { return pass(chunk, to: pipe) }
        if received == 0 {
            let status = easy.long(CURLINFO_RESPONSE_CODE)
            keepsBody = (200..<300).contains(status) || relayed != nil
            if status == 206, let resumption {
                guard self.resumption?.begin(ResponseFields.contentRange(of: easy)) == true else { return 0 }
                body = resumption.body
                received = resumption.body.count
            } else if keepsBody {
                // libcurl checks an announced length itself; trusting it for the allocation is bounded by our own limit.
                let announced = Int(easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
                body = ResponseBody(expecting: min(max(announced, 0), configuration.maximumBodySize))
            }
        }
        received += chunk.count
        if received > configuration.maximumBodySize {
            isTooLarge = true
            return 0
        }
        if keepsBody { body?.append(chunk) }
        return chunk.count
    }

    private func pass(_ chunk: UnsafeRawBufferPointer, to pipe: BodyPipe) -> Int {
        if received == 0 {
            let status = HTTPResponse.Status(code: easy.long(CURLINFO_RESPONSE_CODE))
            pipe.begin(HTTPResponse(status: status, headerFields: relayed?.fields ?? [:]))
        }
        guard pipe.offer(chunk) else { return Int(CURL_WRITEFUNC_PAUSE) }
        received += chunk.count
        return chunk.count
    }

    /// Reads the outcome off the handle, which may be used again at once; calling what it returns tells the caller.
    func end(_ code: CURLcode) -> () -> Void {
        if code == CURLE_OK, let resumption, resumption.isUnderWay, !resumption.isComplete {
            return complete(
                .failure(
                    TransferError(.truncated, url: url, detail: "the rest of the body is not as long as announced")))
        }
        if code == CURLE_OK, !heads.isWhole {
            return complete(
                .failure(TransferError(.broken, url: url, detail: "the response ended within its header fields")))
        }
        if code == CURLE_OK, ResponseFields.hasSeveralLengths(easy) {
            // RFC 9112 section 6.3: where the body ends is anybody's guess.
            return complete(
                .failure(TransferError(.broken, url: url, detail: "the response has several lengths that differ")))
        }
        return complete(code == CURLE_OK ? .success(response()) : .failure(error(code)))
    }

    func cancel() -> () -> Void {
        complete(.failure(TransferError(.cancelled, url: url, detail: "cancelled")))
    }

    /// Ends the use without telling anybody.
    func drop() { _ = cancel() }

    private func complete(_ result: Result<TransferResponse, TransferError>) -> () -> Void {
        let told = completion.take()
        body = nil
        use += 1
        return { told?(result) }
    }

    private func response() -> TransferResponse {
        let status = resumption?.isUnderWay == true ? 200 : Int(easy.long(CURLINFO_RESPONSE_CODE))
        var redirectedTo: String?
        var redirects: [HTTPResponse] = []
        if easy.long(CURLINFO_REDIRECT_COUNT) > 0 {
            var text: UnsafeMutablePointer<CChar>?
            sleeve_getinfo_string(easy, CURLINFO_EFFECTIVE_URL, &text)
            let place = text.map { String(cString: $0) } ?? ""
            redirectedTo = Redaction.removingUserInfo(place)
            if redirectedTo == place { redirects = heads.redirects(from: easy) }
        }
        return TransferResponse(
            head: HTTPResponse(
                status: .init(code: status), headerFields: relayed?.fields ?? ResponseFields.read(from: easy)),
            body: body ?? ResponseBody(),
            location: location(status), redirectedTo: redirectedTo, redirects: redirects,
            isHTTP2: easy.long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0,
            microseconds: Int(easy.offset(CURLINFO_TOTAL_TIME_T)),
            microsecondsToFirstByte: Int(easy.offset(CURLINFO_STARTTRANSFER_TIME_T)))
    }

    private func location(_ status: Int) -> String? {
        guard !follows, (300..<400).contains(status) else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        sleeve_getinfo_string(easy, CURLINFO_REDIRECT_URL, &text)
        return text.map { String(cString: $0) }
    }

    /// libcurl's own line. Where no connection came about, it ends with the system's reason instead of libcurl's general one.
    private func text(of code: CURLcode) -> String {
        if errorText[0] == 0 { return String(cString: curl_easy_strerror(code)) }
        let text = String(cString: errorText)
        let number = easy.long(CURLINFO_OS_ERRNO)
        guard code == CURLE_COULDNT_CONNECT, number != 0, let end = text.lastIndex(of: ":") else { return text }
        return text[...end] + " " + String(cString: strerror(Int32(number)))
    }

    private func error(_ code: CURLcode) -> TransferError {
        if isRefused, code == CURLE_COULDNT_CONNECT {
            return TransferError(
                .refusedAddress, url: url, detail: "its address is not on the open Internet, and such are refused")
        }
        // Else it would be a redirect, and none was to be followed.
        if code == CURLE_UNSUPPORTED_PROTOCOL, !follows {
            return TransferError(.broken, url: url, detail: "the server does not answer with HTTP")
        }
        if resumption?.isMisplaced == true {
            return TransferError(.truncated, url: url, detail: "the server sent another part of the body than the rest")
        }
        // libcurl gives up on a single line of 100 KB by itself, for which it has no code of its own.
        if heads.isTooLarge || (code == CURLE_OUT_OF_MEMORY && received == 0) {
            // What is too large for whoever relays is a body that passes through.
            return TransferError(
                relayed == nil ? .tooLarge : .truncated, url: url,
                detail: "the response's header fields are larger than \(configuration.maximumHeadSize) bytes")
        }
        var error = TransferError(
            code, url: url, isTooLarge: isTooLarge, received: received, limit: configuration.maximumBodySize,
            text: text(of: code))
        if !isTooLarge, relayed == nil, keepsBody, let body, body.count >= PartialBody.smallest {
            error.partial = PartialBody(body: body, fields: ResponseFields.read(from: easy))
        }
        return error
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
}

extension Duration {
    var inMilliseconds: Int { Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}
