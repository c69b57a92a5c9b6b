import CCurl
import HTTPTypes

/// Relayed requests.
extension Transfer {
    /// Sets the options of a relayed request, or resets them to those of a cover request.
    func setRelay(_ relay: TransferRequest.Relay?) {
        setLimits(relay?.stream)
        relayed = relay
        // libcurl has a copy.
        relayed?.body = nil
        sleeve_setopt_string(easy, CURLOPT_ACCEPT_ENCODING, relay == nil ? Self.acceptedCoding : nil)
        // libcurl before 8.5 fails at a transfer coding that it does not know, although none was requested.
        sleeve_setopt_long(easy, CURLOPT_HTTP_CONTENT_DECODING, relay == nil ? 1 : 0)
        sleeve_setopt_string(easy, CURLOPT_CUSTOMREQUEST, nil)
        sleeve_setopt_pointer(easy, CURLOPT_POSTFIELDS, nil)
        // Resets POST and HEAD.
        sleeve_setopt_long(easy, CURLOPT_HTTPGET, 1)
        guard let relay else { return }
        sleeve_setopt_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if relay.method == .head { return _ = sleeve_setopt_long(easy, CURLOPT_NOBODY, 1) }
        if var body = relay.body {
            // libcurl copies the number of bytes that was set before.
            sleeve_setopt_off(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            // An empty array may have no address, and a null pointer would make libcurl read the body from a callback.
            body.append(0)
            _ = body.withUnsafeMutableBytes { sleeve_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress!) }
        }
        if relay.method != .get || relay.body != nil {
            sleeve_setopt_string(easy, CURLOPT_CUSTOMREQUEST, relay.method.rawValue)
        }
    }

    /// A streamed body has no maximum length, and no time limit as long as bytes arrive.
    private func setLimits(_ stream: ResponseStream?) {
        guard relayed?.stream != nil || stream != nil else { return }
        let (size, time) = (configuration.maximumBodySize, configuration.timeout.inMilliseconds)
        sleeve_setopt_off(easy, CURLOPT_MAXFILESIZE_LARGE, stream == nil ? curl_off_t(size) : 0)
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, stream == nil ? time : 0)
    }

    /// Continues a paused transfer.
    func resume() {
        share.resume(easy)
        sleeve_unpause(easy)
    }

    /// Lines that suppress the fields that libcurl would add to `fields`. None for a signing client: libcurl before 8.3 signs lines
    /// without a value, and does not send them.
    func suppressedFields(_ fields: HTTPFields) -> UnsafeMutablePointer<curl_slist>? {
        if configuration.signing != nil { return nil }
        // libcurl waits a second for a response to `Expect`, which many servers do not send.
        var list = curl_slist_append(nil, "Expect:")
        for name in [HTTPField.Name.accept, .userAgent, .contentType] where !fields.contains(name) {
            list = curl_slist_append(list, "\(name.rawName):")
        }
        return list
    }
}

extension TransferRequest.Relay {
    /// RFC 9110 section 9.2.2.
    var isIdempotent: Bool { [.get, .head, .put, .delete, .options, .trace].contains(method) }
}
