import CCurl
import HTTPTypes

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
