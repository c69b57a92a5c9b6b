import CCurl
import HTTPTypes
import Platform

/// Options and results of an easy handle's transfer.
extension UnsafeMutableRawPointer {
    func long(_ info: CURLINFO) -> Int {
        var value = 0
        sleeve_getinfo_long(self, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        sleeve_getinfo_off(self, info, &value)
        return value
    }

    /// The status of the last response; nil if it has none, or one without three digits (RFC 9110 section 15).
    var status: HTTPResponse.Status? {
        let code = long(CURLINFO_RESPONSE_CODE)
        return (100...999).contains(code) ? HTTPResponse.Status(code: code) : nil
    }

    /// The cookies of the handle, as `CURLOPT_COOKIELIST` takes them.
    var cookies: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        sleeve_getinfo_list(self, CURLINFO_COOKIELIST, &list)
        defer { curl_slist_free_all(list) }
        return sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }
            .compactMap { $0?.pointee.data.map { String(cString: $0) } }
    }

    /// How long the handshake of TCP took; 0 if the connection was open.
    var connectDuration: Duration {
        .microseconds(max(0, offset(CURLINFO_CONNECT_TIME_T) - offset(CURLINFO_NAMELOOKUP_TIME_T)))
    }

    /// The stages of the transfer. libcurl's times begin when it chooses a connection, except for the whole time: the time of the body is
    /// measured by the caller.
    func timings(body: Int) -> TransferTimings {
        var timings = TransferTimings()
        var end = 0
        // A handshake that did not take place has the time 0, or that of the stage before it.
        func stage(_ info: CURLINFO) -> Int {
            let time = Int(offset(info))
            defer { end = max(end, time) }
            return max(0, time - end)
        }
        timings.name = stage(CURLINFO_NAMELOOKUP_TIME_T)
        timings.connect = stage(CURLINFO_CONNECT_TIME_T)
        timings.tls = stage(CURLINFO_APPCONNECT_TIME_T)
        timings.firstByte = stage(CURLINFO_STARTTRANSFER_TIME_T)
        timings.body = body
        var connection: curl_off_t = 0
        sleeve_getinfo_connection(self, &connection)
        timings.connection = Int(connection)
        return timings
    }

    /// libcurl's message. If it could not connect, the system's reason replaces libcurl's general one.
    func message(_ code: CURLcode, _ errorText: UnsafePointer<CChar>) -> String {
        if errorText[0] == 0 { return String(cString: curl_easy_strerror(code)) }
        var text = String(cString: errorText)
        while text.last == " " { text.removeLast() }
        let number = long(CURLINFO_OS_ERRNO)
        guard code == CURLE_COULDNT_CONNECT, number != 0, let end = text.lastIndex(of: ":") else { return text }
        return text[...end] + " " + String(cString: strerror(Int32(number)))
    }
}

extension Duration {
    /// Milliseconds, between 0 and `Int32.max`, which is the longest timeout that libcurl takes.
    var inMilliseconds: Int {
        if components.seconds >= Int64(Int32.max) / 1_000 { return Int(Int32.max) }
        return max(0, Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000))
    }
}

/// Requests that are not for covers.
extension Transfer {
    /// Sets the options of a POST, or resets them to those of a cover request.
    func set(post: [UInt8]?) {
        sleeve_setopt_string(easy, CURLOPT_ACCEPT_ENCODING, post == nil ? Self.acceptedCoding : nil)
        // libcurl before 8.5 fails at a transfer coding that it does not know, although none was requested.
        sleeve_setopt_long(easy, CURLOPT_HTTP_CONTENT_DECODING, post == nil ? 1 : 0)
        sleeve_setopt_pointer(easy, CURLOPT_POSTFIELDS, nil)
        // Resets POST.
        sleeve_setopt_long(easy, CURLOPT_HTTPGET, 1)
        guard var body = post else { return }
        sleeve_setopt_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // libcurl copies the number of bytes that was set before.
        sleeve_setopt_off(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        // An empty array may have no address, and a null pointer would make libcurl read the body from a callback.
        body.append(0)
        _ = body.withUnsafeMutableBytes { sleeve_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress!) }
    }

    /// Lines that suppress the fields that libcurl would add to `fields`.
    func suppressedFields(_ fields: HTTPFields) -> UnsafeMutablePointer<curl_slist>? {
        // libcurl waits a second for a response to `Expect`, which many servers do not send.
        var list = curl_slist_append(nil, "Expect:")
        for name in [HTTPField.Name.accept, .userAgent, .contentType] where !fields.contains(name) {
            list = curl_slist_append(list, "\(name.rawName):")
        }
        return list
    }
}

/// The time-out of a transfer's connection, in which its look-up may have a longer part.
///
/// libcurl has one time-out for look-up and connection, and reads it whenever it checks: often during a look-up; while it connects, when
/// something happens, and at the time-out that was set when the transfer began.
struct ConnectTimeout {
    private let usual: Duration
    private let lookUp: Duration
    /// When the look-up of the name began; nil if none is in progress.
    private var begun: ContinuousClock.Instant?
    /// What libcurl is to have now.
    private(set) var current: Duration

    init(_ configuration: HTTPClientConfiguration) {
        usual = configuration.connectTimeout
        lookUp = max(configuration.connectTimeout, configuration.lookUpTimeout)
        current = usual
    }

    /// Another transfer begins.
    mutating func reset() { (begun, current) = (nil, usual) }

    mutating func beginLookUp(at now: ContinuousClock.Instant) { (begun, current) = (now, lookUp) }

    /// Does nothing if no look-up is in progress.
    mutating func endLookUp(at now: ContinuousClock.Instant) {
        guard let begun = begun.take() else { return }
        let elapsed = now - begun
        let isSlow = elapsed * 2 > usual
        current = usual + (isSlow ? elapsed : .zero)
    }
}
