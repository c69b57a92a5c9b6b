import AlbumLibrary
import CoverLibrary
import Platform

/// Why a cover cannot be shown.
struct CoverProblem: Sendable, Equatable {
    /// One or two sentences for users: what happened, and what to do.
    var reason: String
    /// The technical cause.
    var cause: String?

    /// The album names no address.
    static let noAddress = CoverProblem(reason: "No cover address yet. Edit the album to add one.")

    init(reason: String, cause: String? = nil) {
        self.reason = reason
        self.cause = cause
    }

    init(_ failure: CoverFailure) {
        reason = Self.reason(failure)
        cause =
            OwnPictures.isAddress(failure.url) || failure.kind == .badURL && failure.url.isEmpty ? nil : failure.detail
    }

    /// Adds the reason as a member called `name`, and the cause as `cause`.
    func add(to object: inout JSONObject, as name: String) {
        object.add(name, reason)
        if let cause { object.add("cause", Redaction.redact(cause)) }
    }

    private static func reason(_ failure: CoverFailure) -> String {
        if OwnPictures.isAddress(failure.url) {
            return "Your own picture is no longer there. Edit the album to choose it again."
        }
        let host = failure.failedHost ?? "the cover’s server"
        let sentence = sentence(failure, host)
        // A sentence that begins with a host name keeps it as it is.
        return sentence.hasPrefix("the ") ? "T" + sentence.dropFirst() : sentence
    }

    private static func sentence(_ failure: CoverFailure, _ host: String) -> String {
        switch failure.kind {
        case .badURL where failure.url.isEmpty: return noAddress.reason
        case .badURL: return "The cover’s address can’t be used. Edit the album to change it."
        case .nameResolution: return "Can’t find \(host). Check the address and your connection."
        case .notTried where failure.failedHost != nil && !failure.isHostUnreachable:
            return "\(host) asked for a pause. Try again later."
        case .connect, .notTried:
            return "Can’t reach \(host). "
                + (failure.isHostUnreachable ? "Sleeve tries again every few seconds." : "Try again later.")
        case .broken: return "\(host) broke the connection. Try again later."
        case .tls: return "Can’t connect to \(host) securely."
        case .timeout: return "\(host) takes too long to answer. Try again later."
        case .tooLarge: return "The picture is too large."
        case .truncated: return "The picture arrived incomplete. Try again."
        case .status: return status(failure.status ?? 0, host)
        case .notAnImage: return "What \(host) sent isn’t a picture. Edit the album to change the address."
        case .placeholder: return "\(host) no longer has this cover: it gives one picture in place of several."
        case .overQuota: return "\(host) takes no more requests for now. Try again later."
        case .tooManyRedirects: return "The cover’s address leads nowhere. Edit the album to change it."
        case .refusedAddress: return "Sleeve may not connect to the cover’s address."
        case .offline: return "Not in Sleeve’s cache, and Sleeve is offline."
        case .notStorable: return "\(host) doesn’t allow keeping this cover."
        case .cache: return "The cover could not be saved. Check the free disk space."
        case .outOfResources: return "Sleeve’s computer is out of memory or of file descriptors. Try again later."
        default: return "The cover could not be fetched. Try again."
        }
    }

    private static func status(_ status: Int, _ host: String) -> String {
        switch status {
        case 404, 410: "\(host) has no cover at this address (\(status)). Edit the album to change it."
        case 401, 403: "\(host) refuses access to this cover (\(status))."
        case 429: "\(host) takes no more requests for now (429). Try again later."
        case 500...: "\(host) has a problem (\(status)). Try again later."
        default: "\(host) answered \(status) instead of a cover."
        }
    }
}
