import HTTPCaching
import HTTPTypes
import NIOCore

extension Representation {
    /// Evaluates `If-None-Match`, or `If-Modified-Since` without it (RFC 9110 §13.2.2). True means 304.
    func isNotModified(_ request: HTTPFields) -> Bool {
        if let tags = request[.ifNoneMatch] { return EntityTags([tags]).contains(validators.entityTag) }
        guard let date = request[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) else { return false }
        return validators.lastModified <= date
    }

    /// Evaluates `Range` and `If-Range` (RFC 9110 §14.2, §13.1.5).
    func range(_ request: HTTPFields) -> ByteRange {
        guard let range = request[.range] else { return .whole }
        if let condition = request[.ifRange], condition != validators.entityTag,
            HTTPDate.seconds(condition) != validators.lastModified
        {
            return .whole
        }
        return ByteRange(range, length: bytes.readableBytes)
    }
}
