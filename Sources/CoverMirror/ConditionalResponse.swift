import HTTPCaching
import HTTPTypes

/// Answers a request from a complete response: with the response, or with 304, 206 or 416.
enum ConditionalResponse {
    /// - Parameters:
    ///   - body: complete; empty for HEAD.
    ///   - length: the length of the body in bytes, for HEAD.
    ///   - age: the value of `Age`, in seconds (RFC 9111 section 5.1); nil to keep the response's own.
    static func make(
        _ response: StoredResponse, body: [UInt8], length: Int? = nil, for request: MirrorRequest, age: Int64? = nil
    ) -> MirrorResponse {
        var fields = response.fields
        if let age { fields[.age] = String(age) }
        // Conditions and ranges apply to a 200 only (RFC 9110 sections 13.2.1 and 14.2).
        if response.status == 200 {
            if isNotModified(response, request.fields) { return notModified(fields) }
            if request.method == .get, request.fields.contains(.range) {
                switch ByteRange(request.fields, of: response, length: body.count) {
                case .whole: break
                case .unsatisfiable: return unsatisfiable(length: body.count)
                case .part(let range):
                    fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
                    fields[.contentLength] = String(range.count)
                    return MirrorResponse(status: 206, fields: fields, body: body[range])
                }
            }
        }
        if request.method == .head {
            if let length { fields[.contentLength] = String(length) }
            return MirrorResponse(status: response.status, fields: fields)
        }
        if ![204, 304].contains(response.status) { fields[.contentLength] = String(body.count) }
        return MirrorResponse(status: response.status, fields: fields, body: body[...])
    }

    /// `If-None-Match`, else `If-Modified-Since` (RFC 9110 section 13.2.2, RFC 9111 section 4.3.2).
    private static func isNotModified(_ response: StoredResponse, _ request: HTTPFields) -> Bool {
        let tags = request[values: .ifNoneMatch]
        if !tags.isEmpty {
            guard let tag = response.fields[.eTag] else { return tags.contains("*") }
            return EntityTags(tags).contains(tag)
        }
        guard let text = request[.ifModifiedSince], let since = HTTPDate.seconds(text) else { return false }
        // Without `Last-Modified` the date of the response is compared (RFC 9111 section 4.3.2).
        let modified =
            response.fields[.lastModified].flatMap { HTTPDate.seconds($0) } ?? response.freshness.date / 1_000
        return modified <= since
    }

    /// Without the fields that describe the body, which the client has (RFC 9110 section 15.4.5).
    private static func notModified(_ fields: HTTPFields) -> MirrorResponse {
        var fields = fields
        for name in [HTTPField.Name.contentLength, .contentType, .contentEncoding, .contentRange, .contentLanguage] {
            fields[name] = nil
        }
        return MirrorResponse(status: 304, fields: fields)
    }

    private static func unsatisfiable(length: Int) -> MirrorResponse {
        var response = MirrorResponse.generated(416, "there are \(length) bytes")
        response.head.headerFields[.contentRange] = "bytes */\(length)"
        return response
    }
}
