/// Why a transfer brought no response. `url` is the one asked for; `detail` is one line for a person and never holds
/// credentials (URLs with credentials are refused before a transfer starts).
package struct TransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The classes a caller can act on. Statuses are not among them: an answered request is a response, whatever its code.
    package enum Kind: String, Sendable, CaseIterable {
        case nameResolution
        case connect
        /// The connection stood, but broke before anything came, or what came is no HTTP.
        case broken
        case tls
        case timeout
        case tooLarge
        case truncated
        case tooManyRedirects
        case refusedAddress
        case cancelled
    }

    package var kind: Kind
    package var url: String
    package var detail: String
    /// What had come by then, where it is worth going on from.
    package var partial: PartialBody?

    package init(_ kind: Kind, url: String, detail: String) {
        self.kind = kind
        self.url = url
        self.detail = detail
    }

    package var description: String { "\(url): \(detail)" }
}
