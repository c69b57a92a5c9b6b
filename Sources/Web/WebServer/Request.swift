package import HTTPTypes
import Platform

/// A request whose head, and whose body if it has one, have arrived.
package struct Request: Sendable {
    package let method: HTTPRequest.Method
    /// In origin form (RFC 9112 section 3.2.1), as it was sent: percent-encoded.
    package let target: String
    /// With one `Host`.
    package let headers: HTTPFields
    let isHTTP10: Bool
    /// Empty until the body is complete.
    package internal(set) var body: [UInt8] = []
    /// The memory of the body, as long as anything has this request.
    var memory: BodyMemory.Share?
    /// Whether the client is still there.
    package let client: ClientPresence

    /// The host and the port that the request is for.
    package var authority: String { headers[Self.host] ?? "" }

    /// The target up to its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// What follows the first `?`; nil without one.
    package var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }

    /// The decoded value of the first parameter of that name. A `+` stays.
    package func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name {
                return String(decoding: PercentEncoding.decoded((parts.dropFirst().first ?? "").utf8), as: UTF8.self)
            }
        }
        return nil
    }

    /// The value of the first cookie of that name (RFC 6265 section 5.4).
    package func cookie(_ name: String) -> String? {
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
            }
        }
        return nil
    }

    static let host = HTTPField.Name("Host")!
}
