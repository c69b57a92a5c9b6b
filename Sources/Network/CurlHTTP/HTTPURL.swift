import CCurl
import Platform

/// An `http` or `https` URL: one parse, two values. `requestURL` is what is sent, `string` identifies the resource.
///
/// Both have a normalized origin: scheme and host in lower case, no default port, an international host name in its ASCII form
/// (RFC 5891), whatever the locale. Neither has a fragment. A backslash in the path is a slash, as in browsers (WHATWG URL).
package struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// The normalized URL (RFC 3986 section 6.2.2): no dot segments, unreserved characters decoded, percent-encodings in upper
    /// case. Equivalent URLs have equal `string`s, so it is the cache key. That of a cover of a Subsonic server has no credentials.
    package let string: String
    /// The URL as it is requested: its path and query are those that were given, to the byte, as a signature may cover them. Only
    /// what RFC 3986 does not allow is percent-encoded.
    package let requestURL: String
    /// `string` lacks parameters of `requestURL` that do not tell resources apart.
    package let omitsParameters: Bool
    /// Length in UTF-8 bytes of `scheme://host[:port]` at the start of both.
    private let originLength: Int

    /// `scheme://host[:port]`, the unit of connections, limits and back-off.
    package var origin: Substring { string[..<originEnd(string)] }
    /// `host[:port]`.
    package var authority: String { String(origin.drop { $0 != ":" }.dropFirst(3)) }
    /// The host's name in lower case and ASCII form, or its address: that of IPv6 in brackets.
    package var host: String {
        let authority = authority
        let port = authority.utf8.lastIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        return authority.utf8[port...].contains(UInt8(ascii: "]")) ? authority : String(authority[..<port])
    }
    /// Path and query as they are sent: the request target in origin form (RFC 9112 section 3.2.1).
    package var target: Substring { requestURL[originEnd(requestURL)...] }

    /// A hash of path and query of the normalized URL: the copies of a file on an archive's nodes have the same.
    package var place: UInt64 { FNV1a.hash(string.utf8[originEnd(string)...]) }

    package var isHTTPS: Bool { string.utf8.dropFirst(4).first == UInt8(ascii: "s") }

    /// Whether the host is a numeric address, so that connecting needs no name look-up.
    package var hostIsAddress: Bool {
        let host = host
        return host.hasPrefix("[") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || Self.isDigit($0) }
    }

    package var description: String { string }

    /// The longest URL, in bytes: RFC 9110 section 4.1 recommends that 8,000 are supported, and few servers accept more.
    package static let maximumLength = 8 << 10

    private func originEnd(_ url: String) -> String.Index { url.utf8.index(url.startIndex, offsetBy: originLength) }

    /// Why a text is not a usable URL. `description` does not repeat the text, which may contain a password.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        case noScheme
        case scheme(String)
        case credentials
        case tooLong
        case malformed(String)

        package var description: String {
            switch self {
            case .empty: "the URL is empty"
            case .noScheme: "not a URL: it must begin with http:// or https://"
            case .scheme(let scheme): "\(scheme):// is not supported; use http:// or https://"
            case .credentials: "the URL holds a user name or password; remove it (nothing was sent)"
            case .tooLong: "the URL is longer than \(HTTPURL.maximumLength) bytes"
            case .malformed(let why): "not a URL: \(why)"
            }
        }
    }

    /// - Parameter ignored: names of parameters that do not tell resources apart. `requestURL` has them, `string` does not.
    package init(_ text: String, ignoring ignored: Set<String> = []) throws(Problem) {
        if text.utf8.count > Self.maximumLength { throw .tooLong }
        if let length = Self.plainOriginLength(text),
            !text.utf8.contains(UInt8(ascii: "?")) || ignored.isEmpty && Self.ignoredParameters(of: text.utf8) == nil
        {
            (string, requestURL, originLength, omitsParameters) = (text, text, length, false)
            return
        }
        if text.isEmpty { throw .empty }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw .malformed("it holds a control character") }
        // Lists have U+FFFD in place of bytes that are not UTF-8.
        if text.unicodeScalars.contains("\u{FFFD}") { throw .malformed("it is not UTF-8") }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].prefix(2).count == 2,
            bytes[(colon + 1)...].prefix(2).allSatisfy(Self.isSlash)
        else { throw .noScheme }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard Self.isScheme(bytes[..<colon]) else { throw .malformed("bad scheme") }
        let authority = bytes[(colon + 3)...].prefix {
            !Self.isSlash($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        if authority.contains(UInt8(ascii: "@")) { throw .credentials }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme.shortened(to: 40)) }
        if authority.isEmpty { throw .malformed("no host") }
        let origin = try Self.origin("\(scheme)://\(String(decoding: authority, as: UTF8.self))/")
        let target = Self.encodedTarget(bytes[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") })
        let whole = Self.normalizedTarget(target)
        let normalized = Self.target(whole, without: ignored.union(Self.ignoredParameters(of: whole) ?? []))
        omitsParameters = normalized != whole
        originLength = origin.utf8.count
        string = origin + String(decoding: normalized, as: UTF8.self)
        requestURL = target == normalized ? string : origin + String(decoding: target, as: UTF8.self)
        // Percent-encoding and Punycode lengthen it.
        if max(string.utf8.count, requestURL.utf8.count) > Self.maximumLength { throw .tooLong }
    }

    /// RFC 3986 section 3.1.
    static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { byte in
            isLetter(byte) || isDigit(byte)
                || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
        }
    }

    static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// The normalized `scheme://host[:port]` of a URL whose path is `/`, as libcurl parses it.
    private static func origin(_ url: String) throws(Problem) -> String {
        guard let handle = curl_url() else { throw .malformed("out of memory") }
        defer { curl_url_cleanup(handle) }
        switch curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_DISALLOW_USER)) {
        case CURLUE_OK: break
        case CURLUE_USER_NOT_ALLOWED: throw .credentials
        case let code: throw .malformed(String(cString: curl_url_strerror(code)).lowercased())
        }
        guard let host = Self.part(CURLUPART_HOST, of: handle), !host.isEmpty else { throw .malformed("no host") }
        if host.utf8.contains(where: { $0 >= 0x80 }) {
            // libcurl converts the name from the encoding of the thread's locale.
            let previous = uselocale(Self.utf8)
            defer { uselocale(previous) }
            guard let url = Self.part(CURLUPART_URL, of: handle, flags: UInt32(CURLU_PUNYCODE)) else {
                throw .malformed("its host name is not valid")
            }
            // Parsed once more: the ASCII form may be a numeric address, which is normalized too.
            return try origin(url)
        }
        guard let url = Self.part(CURLUPART_URL, of: handle, flags: UInt32(CURLU_NO_DEFAULT_PORT)), url.last == "/"
        else { throw .malformed("it cannot be normalized") }
        let lower = url.utf8.dropLast().map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: lower, as: UTF8.self)
    }

    /// A locale whose encoding is UTF-8; nil leaves the thread's.
    // because: nothing changes a locale after it is made.
    private nonisolated(unsafe) static let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

    private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

extension HTTPURL {
    /// Length of `scheme://host[:port]` if `text` is certainly normalized, as nearly every URL of a list is. Nil if libcurl has to
    /// parse it, which takes fifty times as long.
    static func plainOriginLength(_ text: borrowing String) -> Int? {
        // All accepted bytes are ASCII, so bytes are characters.
        var text = copy text
        return text.withUTF8 { bytes -> Int? in
            guard let start = schemeLength(bytes), let end = hostEnd(bytes, from: start) else { return nil }
            guard end < bytes.count, bytes[end] == UInt8(ascii: "/"), isPlainPath(bytes[end...]) else { return nil }
            return end
        }
    }

    private static func schemeLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        if bytes.starts(with: "http://".utf8) { return 7 }
        return bytes.starts(with: "https://".utf8) ? 8 : nil
    }

    /// The end of the host and of a port that is not a default one. Numbers that libcurl would rewrite are not accepted.
    private static func hostEnd(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var (position, labelStart, numbers, labels) = (start, start, 0, 0)
        func endLabel() -> Bool {
            let label = bytes[labelStart..<position]
            guard let first = label.first else { return false }
            labels += 1
            guard isDigit(first) else { return first != UInt8(ascii: "-") }
            if label.allSatisfy(isDigit), label.count <= 3, label.count == 1 || first != UInt8(ascii: "0") {
                let value = label.reduce(0) { $0 * 10 + Int($1 & 15) }
                if value > 255 { return false }
                numbers += 1
            }
            return true
        }
        while position < bytes.count,
            isLetter(bytes[position]) || isDigit(bytes[position]) || bytes[position] == 45 || bytes[position] == 46
        {
            if bytes[position] == UInt8(ascii: ".") {
                guard endLabel() else { return nil }
                labelStart = position + 1
            }
            position += 1
        }
        guard labelStart < position, endLabel() else { return nil }
        // A last label that begins with a letter is no number in any base. Otherwise the host must be a dotted quad.
        guard isLetter(bytes[labelStart]) || (labels == 4 && numbers == 4) else { return nil }
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { return position }
        let port = bytes[(position + 1)...].prefix(6).prefix(while: isDigit)
        let number = port.reduce(0) { $0 * 10 + Int($1 & 15) }
        guard let first = port.first, first != UInt8(ascii: "0"), number <= 65_535, number != 80, number != 443 else {
            return nil
        }
        return port.endIndex
    }

    /// Whether the path contains only characters that normalization keeps: no dot segments, fragments or percent-encodings.
    private static func isPlainPath(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."): if previous == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: ","),
                UInt8(ascii: "+"):
                break
            default: return false
            }
            previous = byte
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
}

extension HTTPURL {
    /// Whether the host's name ends in `.invalid`, which no host has (RFC 6761 section 6.4). Such a URL names a cover that a person or
    /// a program gave as bytes. It is never requested.
    package var isInvalidHost: Bool {
        let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3).prefix { $0 != UInt8(ascii: ":") }
        let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host
        return name.reversed().starts(with: "dilavni.".utf8) || name.elementsEqual("invalid".utf8)
    }
}

/// Path and query: as they are sent, and normalized.
extension HTTPURL {
    private static let percent = UInt8(ascii: "%")
    private static let question = UInt8(ascii: "?")
    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    /// The request target for a path and a query as they are written. Bytes that RFC 3986 does not allow there, and a `%` that
    /// begins no percent-encoding, are percent-encoded; a backslash in the path is a slash; all other bytes stay.
    static func encodedTarget(_ written: ArraySlice<UInt8>) -> [UInt8] {
        var target: [UInt8] = written.first.map(isSlash) == true ? [] : [slash]
        target.reserveCapacity(written.count + 16)
        var isQuery = false
        for (index, byte) in zip(written.indices, written) {
            switch byte {
            case question:
                isQuery = true
                target.append(byte)
            case UInt8(ascii: "\\") where !isQuery: target.append(slash)
            case percent where value(of: written[index...].prefix(3)) != nil: target.append(byte)
            case _ where byte != percent && isAllowed(byte): target.append(byte)
            default: target += PercentEncoding.encoded(byte)
            }
        }
        return target
    }

    /// The normal form of a request target (RFC 3986 sections 6.2.2.1 to 6.2.2.3).
    static func normalizedTarget(_ target: [UInt8]) -> [UInt8] {
        var normalized: [UInt8] = []
        normalized.reserveCapacity(target.count)
        var index = 0
        while index < target.count {
            guard target[index] == percent, let value = value(of: target[index...].prefix(3)) else {
                normalized.append(target[index])
                index += 1
                continue
            }
            normalized += PercentEncoding.isUnreserved(value) ? [value] : PercentEncoding.encoded(value)
            index += 3
        }
        let path = normalized.prefix { $0 != question }
        return removingDotSegments(path) + normalized[path.endIndex...]
    }

    /// RFC 3986 section 5.2.4. - Parameter path: begins with a slash.
    static func removingDotSegments(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard zip(path, path.dropFirst()).contains(where: { $0 == slash && $1 == dot }) else { return Array(path) }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isDots = segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == dot }
            if !isDots {
                kept.append(segment)
                continue
            }
            if segment.count == 2 { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return kept.reduce(into: []) { $0 += [slash] + $1 }
    }

    /// The value of a percent-encoding: `%` and two hexadecimal digits. Nil if the bytes are none.
    private static func value(of bytes: ArraySlice<UInt8>) -> UInt8? {
        bytes.first == percent ? Hexadecimal.byte(bytes.dropFirst()) : nil
    }

    /// `pchar`, `/` and `?` of RFC 3986 sections 3.3 and 3.4.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=:@/?".utf8.contains(byte)
    }
}

// MARK: - References

extension HTTPURL {
    /// The URL that a reference leads to from this one (RFC 3986 section 5.2.2), as written: not parsed, not normalized. Only a
    /// path that is relative to this one's has its dot segments removed.
    package func resolving(_ reference: String) -> String {
        let bytes = Array(reference.utf8.prefix { $0 != UInt8(ascii: "#") })
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) { return reference }
        let text = String(decoding: bytes, as: UTF8.self)
        let slashes = bytes.prefix(2).prefix(while: Self.isSlash).count
        if slashes == 2 { return (isHTTPS ? "https:" : "http:") + text }
        if slashes == 1 { return origin + text }
        if bytes.isEmpty { return requestURL }
        let path = target.utf8.prefix { $0 != Self.question }
        if bytes.first == Self.question { return origin + String(decoding: path, as: UTF8.self) + text }
        let folder = path.prefix(through: path.lastIndex(of: Self.slash) ?? path.startIndex)
        let relative = bytes.prefix { $0 != Self.question }
        let merged = Self.removingDotSegments(ArraySlice(Array(folder) + relative))
        return origin + String(decoding: merged + bytes[relative.endIndex...], as: UTF8.self)
    }
}

extension HTTPURL {
    /// Parameters that do not tell resources apart, by the end of the path. `LibraryConfiguration.ignoredParameters` adds some for all paths.
    ///
    /// In the Subsonic API, which Navidrome, Airsonic, gonic and others have, every client sends another user, token and salt, so that
    /// one cover has any number of addresses (subsonic.org/pages/api.jsp). `apiKey` is OpenSubsonic's.
    private static let ignoredParameters: [(path: [UInt8], names: Set<String>)] =
        ["/rest/getCoverArt", "/rest/getCoverArt.view"].map {
            (Array($0.utf8), ["u", "p", "t", "s", "v", "c", "f", "apiKey"])
        }

    /// What the table has for a URL or a request target; nil for most.
    static func ignoredParameters(of bytes: some BidirectionalCollection<UInt8>) -> Set<String>? {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        return ignoredParameters.first { path.reversed().starts(with: $0.path.reversed()) }?.names
    }

    /// A normalized request target without these parameters. If it had any of them, the others are in the order of their text.
    static func target(_ target: [UInt8], without names: Set<String>) -> [UInt8] {
        guard !names.isEmpty, let question = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let parameters = target[(question + 1)...].split(separator: UInt8(ascii: "&"))
        let kept = parameters.filter { parameter in
            !names.contains(String(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        }
        if kept.count == parameters.count { return target }
        let query = kept.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: "&")])
        return target[..<question] + (kept.isEmpty ? [] : [UInt8(ascii: "?")] + query)
    }
}
