import CCurl
import CIDN2

/// An `http` or `https` URL as libcurl parses it, normalized (RFC 3986 section 6.2.2): scheme and host in lower case, no default
/// port, no fragment, no dot segments, spaces and bytes outside ASCII percent-encoded. An international host name is in its ASCII
/// form (RFC 5891), whatever the locale.
///
/// Equivalent URLs have equal `string`s, so it is the cache key.
package struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// The normalized URL.
    package let string: String
    /// Length in UTF-8 bytes of `scheme://host[:port]` at the start of `string`.
    private let originLength: Int

    /// `scheme://host[:port]`, the unit of connections, limits and back-off.
    package var origin: Substring { string[..<string.utf8.index(string.startIndex, offsetBy: originLength)] }
    /// `host[:port]`.
    package var authority: String { String(origin.drop { $0 != ":" }.dropFirst(3)) }
    /// Path and query.
    package var target: Substring { string[string.utf8.index(string.startIndex, offsetBy: originLength)...] }

    package var isHTTPS: Bool { string.utf8.dropFirst(4).first == UInt8(ascii: "s") }

    /// Whether the host is a numeric address, so that connecting needs no name look-up.
    package var hostIsAddress: Bool {
        let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        if host.first == UInt8(ascii: "[") { return true }
        return host.prefix { $0 != UInt8(ascii: ":") }
            .allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    package var description: String { string }

    /// Why a text is not a usable URL. `description` does not repeat the text, which may contain a password.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        case noScheme
        case scheme(String)
        case credentials
        case malformed(String)

        package var description: String {
            switch self {
            case .empty: "the URL is empty"
            case .noScheme: "not a URL: it must begin with http:// or https://"
            case .scheme(let scheme): "\(scheme):// is not supported; use http:// or https://"
            case .credentials: "the URL holds a user name or password; remove it (nothing was sent)"
            case .malformed(let why): "not a URL: \(why)"
            }
        }
    }

    package init(_ text: String) throws(Problem) {
        if let length = Self.plainOriginLength(text) {
            (string, originLength) = (text, length)
            return
        }
        if text.isEmpty { throw .empty }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw .malformed("it holds a control character") }
        // What a list holds instead of bytes that are not UTF-8.
        if text.unicodeScalars.contains("\u{FFFD}") { throw .malformed("it is not UTF-8") }
        guard let handle = curl_url() else { throw .malformed("out of memory") }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER)
        switch curl_url_set(handle, CURLUPART_URL, text, flags) {
        case CURLUE_OK: break
        case CURLUE_USER_NOT_ALLOWED: throw .credentials
        case CURLUE_BAD_SLASHES: throw .noScheme
        case CURLUE_BAD_SCHEME where !text.utf8.contains(UInt8(ascii: ":")): throw .noScheme
        case CURLUE_BAD_SCHEME: throw text.contains("://") ? .malformed("bad scheme") : .noScheme
        case let code: throw .malformed(String(cString: curl_url_strerror(code)).lowercased())
        }
        guard let scheme = Self.part(CURLUPART_SCHEME, of: handle) else { throw .noScheme }
        guard scheme == "http" || scheme == "https" else { throw .scheme(scheme) }
        // libcurl ignores a third slash, and takes what follows for the host.
        let afterScheme = text.firstRange(of: "://").map { text[$0.upperBound...] }
        guard let host = Self.part(CURLUPART_HOST, of: handle), !host.isEmpty, afterScheme?.first != "/" else {
            throw .malformed("no host")
        }
        curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        if host.utf8.contains(where: { $0 >= 0x80 }) {
            // libcurl would convert the name by the process's locale, which is C here.
            guard curl_url_set(handle, CURLUPART_HOST, try Self.asciiForm(of: host), 0) == CURLUE_OK,
                let url = Self.part(CURLUPART_URL, of: handle)
            else { throw .malformed("it cannot be normalized") }
            // Parsed once more: the ASCII form may be a numeric address, which is normalized too.
            self = try HTTPURL(url)
            return
        }
        guard
            var bytes = Self.part(CURLUPART_URL, of: handle, flags: UInt32(CURLU_NO_DEFAULT_PORT)).map({
                Array($0.utf8)
            })
        else { throw .malformed("it cannot be normalized") }

        var end = scheme.utf8.count + 3
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[end]) { bytes[end] |= 0x20 }
            end += 1
        }
        // RFC 3986 section 6.2.2.1: hexadecimal digits are in upper case.
        var position = end
        while position + 2 < bytes.count {
            if bytes[position] == UInt8(ascii: "%") {
                for digit in [position + 1, position + 2]
                where bytes[digit] >= UInt8(ascii: "a") && bytes[digit] <= UInt8(ascii: "f") {
                    bytes[digit] &= 0xDF
                }
                position += 2
            }
            position += 1
        }
        string = String(decoding: bytes, as: UTF8.self)
        originLength = end
    }

    /// The ASCII form of an international host name: lower case, NFC, Punycode (UTS #46 non-transitional, RFC 5891).
    private static func asciiForm(of host: String) throws(Problem) -> String {
        var ascii: UnsafeMutablePointer<UInt8>?
        let code = sleeve_idn2_lookup(Array(host.utf8) + [0], &ascii)
        defer { idn2_free(ascii) }
        guard code == 0, let ascii else {
            throw .malformed("its host name is not valid: \(String(cString: idn2_strerror(code)))")
        }
        return String(cString: ascii)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
