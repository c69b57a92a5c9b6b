import CCurl
import HTTPTypes

/// Requests handed on for somebody else.
extension Transfer {
    /// Sets up what differs from asking for a cover, or takes it back.
    func setRelay(_ relay: TransferRequest.Relay?) {
        setLimits(relay?.pipe)
        relayed = relay.map { RelayedHead(onInterim: $0.onInterim, pipe: $0.pipe) }
        sleeve_setopt_string(easy, CURLOPT_CUSTOMREQUEST, nil)
        sleeve_setopt_pointer(easy, CURLOPT_POSTFIELDS, nil)
        // Takes back a POST and a HEAD.
        sleeve_setopt_long(easy, CURLOPT_HTTPGET, 1)
        guard let relay else { return }
        sleeve_setopt_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // libcurl before 8.5 would fail at a transfer coding it does not know, which nobody asked for.
        sleeve_setopt_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        if relay.method == .head { return _ = sleeve_setopt_long(easy, CURLOPT_NOBODY, 1) }
        if var body = relay.body {
            sleeve_setopt_off(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            // An empty array may have no address, and none at all would mean that the body comes from elsewhere.
            body.append(0)
            _ = body.withUnsafeMutableBytes { sleeve_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress!) }
        }
        if relay.method != .get || relay.body != nil {
            sleeve_setopt_string(easy, CURLOPT_CUSTOMREQUEST, relay.method.rawValue)
        }
    }

    /// What passes through may be of any size, and take its time as long as it moves.
    private func setLimits(_ pipe: BodyPipe?) {
        guard relayed?.pipe != nil || pipe != nil else { return }
        let (size, time) = (configuration.maximumBodySize, configuration.timeout.inMilliseconds)
        sleeve_setopt_off(easy, CURLOPT_MAXFILESIZE_LARGE, pipe == nil ? curl_off_t(size) : 0)
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, pipe == nil ? time : 0)
    }

    /// Goes on after a pause.
    func resume() { sleeve_unpause(easy) }

    /// What libcurl would add of itself, left out where `fields` do not have it.
    static func silenced(_ fields: HTTPFields) -> UnsafeMutablePointer<curl_slist>? {
        // Asking first (`Expect`) costs a second where servers do not answer that.
        var list = curl_slist_append(nil, "Expect:")
        for name in [HTTPField.Name.accept, .userAgent, .contentType] where !fields.contains(name) {
            list = curl_slist_append(list, "\(name.rawName):")
        }
        return list
    }
}

/// The heads of a response as libcurl hands them over, line by line: 1xx ones, then the final one; trailers after the body
/// are passed over.
struct RelayedHead {
    private(set) var fields = HTTPFields()
    private var status = 0
    private var isOver = false
    private let onInterim: (@Sendable (HTTPResponse) -> Void)?
    let pipe: BodyPipe?

    init(onInterim: (@Sendable (HTTPResponse) -> Void)?, pipe: BodyPipe?) {
        self.onInterim = onInterim
        self.pipe = pipe
    }

    mutating func take(_ line: UnsafeRawBufferPointer) {
        var bytes = line[...]
        while let last = bytes.last, last == 10 || last == 13 || last == 32 || last == 9 { bytes.removeLast() }
        if bytes.starts(with: "HTTP/".utf8) {
            let code = bytes.drop { $0 != 32 }.dropFirst().prefix { $0 != 32 }
            status = Int(String(decoding: code, as: UTF8.self)) ?? 0
            (fields, isOver) = ([:], false)
        } else if bytes.isEmpty {
            end()
        } else if !isOver {
            add(bytes)
        }
    }

    private mutating func end() {
        isOver = !(100..<200).contains(status)
        // 100 answers what nobody asked, and 101 would change the protocol (RFC 9110 §15.2).
        if !isOver, status > 101 {
            onInterim?(HTTPResponse(status: .init(code: status), headerFields: fields))
        }
    }

    private mutating func add(_ line: Slice<UnsafeRawBufferPointer>) {
        if let first = line.first, first == 32 || first == 9, let last = fields.last {
            // A folded line (RFC 9112 §5.2) is one value with spaces.
            let rest = line.drop { $0 == 32 || $0 == 9 }
            fields[fields.index(before: fields.endIndex)].value =
                last.value + " " + String(decoding: rest, as: UTF8.self)
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { return }
        let value = line[line.index(after: colon)...].drop { $0 == 32 || $0 == 9 }
        fields.append(HTTPField(name: name, lenientValue: value))
    }
}
