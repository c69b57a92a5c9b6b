import CCurl
import HTTPTypes
import Platform

/// The response fields that a private cache needs. libcurl has parsed them; the others are not copied.
enum ResponseFields {
    private static let names: [(name: HTTPField.Name, text: StaticString)] = [
        (.contentType, "Content-Type"), (.eTag, "ETag"), (.lastModified, "Last-Modified"),
        (.cacheControl, "Cache-Control"), (.expires, "Expires"), (.date, "Date"), (.age, "Age"), (.vary, "Vary"),
        (.retryAfter, "Retry-After"), (.rateLimit, "RateLimit"), (.rateLimitRemaining, "RateLimit-Remaining"),
        (.rateLimitReset, "RateLimit-Reset"), (.xRateLimitRemaining, "X-RateLimit-Remaining"),
        (.xRateLimitReset, "X-RateLimit-Reset"), (.xDiscogsRateLimitRemaining, "X-Discogs-Ratelimit-Remaining"),
    ]

    /// Reads the fields of a response. Several lines of one field are joined with commas (RFC 9110 section 5.3).
    /// - Parameter request: the number of the request in the chain of redirects, from 0; nil for the last one.
    static func read(from easy: UnsafeMutableRawPointer, request: Int? = nil) -> HTTPFields {
        let request = request.map { Int32($0) } ?? -1
        var fields = HTTPFields()
        fields.reserveCapacity(names.count)
        for (name, text) in names {
            guard let (first, amount) = header(text, 0, request, easy) else { continue }
            guard amount > 1 else {
                fields.append(HTTPField(name: name, value: first))
                continue
            }
            let lines = (0..<amount).map { header(text, $0, request, easy)?.value ?? first }
            fields.append(HTTPField(name: name, value: Array(lines.joined(separator: Array(", ".utf8)))))
        }
        return fields
    }

    /// The first line of a field of the last response.
    static func value(_ name: StaticString, of easy: UnsafeMutableRawPointer) -> String? {
        header(name, 0, -1, easy).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// The value of `Location`, as the server wrote it. Bytes are percent-encoded if they are not UTF-8.
    static func location(of easy: UnsafeMutableRawPointer) -> String? {
        var found: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(easy, "Location", 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
            let value = found?.pointee.value, value[0] != 0
        else { return nil }
        if let text = String(validatingCString: value) { return text }
        var text = ""
        for byte in sequence(first: value, next: { $0 + 1 }).lazy.map({ UInt8(bitPattern: $0.pointee) }) {
            if byte == 0 { break }
            text += byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
        return text
    }

    /// Whether the last response has several `Content-Length` lines that differ (RFC 9112 section 6.3).
    static func hasDifferentLengths(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard let (first, amount) = header("Content-Length", 0, -1, easy), amount > 1 else { return false }
        return (1..<amount).contains { header("Content-Length", $0, -1, easy)?.value.elementsEqual(first) != true }
    }

    /// The bytes of one line's value, valid until the handle's next transfer, and the number of lines.
    private static func header(
        _ name: StaticString, _ index: Int, _ request: Int32, _ easy: UnsafeMutableRawPointer
    ) -> (value: UnsafeBufferPointer<UInt8>, amount: Int)? {
        var found: UnsafeMutablePointer<curl_header>?
        let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard curl_easy_header(easy, text, index, UInt32(CURLH_HEADER), request, &found) == CURLHE_OK, let found else {
            return nil
        }
        guard let value = found.pointee.value else { return nil }
        let bytes = UnsafeRawPointer(value).assumingMemoryBound(to: UInt8.self)
        return (UnsafeBufferPointer(start: bytes, count: strlen(value)), found.pointee.amount)
    }
}

extension HTTPField.Name {
    static let rateLimit = HTTPField.Name("RateLimit")!
    static let rateLimitRemaining = HTTPField.Name("RateLimit-Remaining")!
    static let rateLimitReset = HTTPField.Name("RateLimit-Reset")!
    static let xRateLimitRemaining = HTTPField.Name("X-RateLimit-Remaining")!
    static let xRateLimitReset = HTTPField.Name("X-RateLimit-Reset")!
    static let xDiscogsRateLimitRemaining = HTTPField.Name("X-Discogs-Ratelimit-Remaining")!
}
