import HTTPCaching
import HTTPTypes

extension Representation {
    /// Evaluates `If-None-Match`, or `If-Modified-Since` without it (RFC 9110 §13.2.2). True means 304.
    func isNotModified(_ request: HTTPFields) -> Bool {
        if let tags = request[.ifNoneMatch] { return EntityTags([tags]).contains(validators.entityTag) }
        guard let date = request[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) else { return false }
        return validators.lastModified <= date
    }
}
