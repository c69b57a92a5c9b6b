import HTTPCaching
import HTTPTypes

/// How a whole response answers one client's request: as it is, or with 304, 206 or 416.
enum Presentation {
    /// - Parameters:
    ///   - age: what `Age` is to say, in seconds (RFC 9111 §5.1); nil: what the response says itself.
    ///   - body: the whole; nil for HEAD, where `length` tells.
    static func answer(
        _ response: StoredResponse, body: [UInt8], length: Int? = nil, to request: MirrorRequest, age: Int64? = nil
    ) -> MirrorAnswer {
        var fields = response.fields
        if let age { fields[.age] = String(age) }
        // Only what is there with 200 is conditional (RFC 9110 §13.2.1).
        if response.status == 200 {
            if isNotModified(response, request.fields) { return notModified(fields) }
            if request.method == .get, request.fields.contains(.range) {
                switch ByteRange(request.fields, of: response, length: body.count) {
                case .whole: break
                case .unsatisfiable: return unsatisfiable(length: body.count)
                case .part(let range):
                    fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
                    fields[.contentLength] = String(range.count)
                    return MirrorAnswer(status: 206, fields: fields, body: body[range])
                }
            }
        }
        if request.method == .head {
            if let length { fields[.contentLength] = String(length) }
            return MirrorAnswer(status: response.status, fields: fields)
        }
        if ![204, 304].contains(response.status) { fields[.contentLength] = String(body.count) }
        return MirrorAnswer(status: response.status, fields: fields, body: body[...])
    }

    /// `If-None-Match`, else `If-Modified-Since` (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
    static func isNotModified(_ response: StoredResponse, _ request: HTTPFields) -> Bool {
        let tags = request[values: .ifNoneMatch]
        if !tags.isEmpty {
            guard let tag = response.fields[.eTag] else { return tags.contains("*") }
            return EntityTags(tags).contain(tag)
        }
        guard let text = request[.ifModifiedSince], let since = HTTPDate.seconds(text) else { return false }
        // Without `Last-Modified` the date of the response stands for it (RFC 9111 §4.3.2).
        let modified = response.fields[.lastModified].flatMap { HTTPDate.seconds($0) } ?? response.date / 1_000
        return modified <= since
    }

    /// What describes the body stays away; the client has it (RFC 9110 §15.4.5).
    private static func notModified(_ fields: HTTPFields) -> MirrorAnswer {
        var fields = fields
        for name in [HTTPField.Name.contentLength, .contentType, .contentEncoding, .contentRange, .contentLanguage] {
            fields[name] = nil
        }
        return MirrorAnswer(status: 304, fields: fields)
    }

    private static func unsatisfiable(length: Int) -> MirrorAnswer {
        var answer = MirrorAnswer.own(416, "there are \(length) bytes")
        answer.head.headerFields[.contentRange] = "bytes */\(length)"
        return answer
    }
}
