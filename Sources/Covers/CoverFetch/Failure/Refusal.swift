/// What a response that brings no cover means: whether it is retried, and what it says of its host. RFC 9110 section 15, and the unregistered
/// codes of gateways.
enum Refusal {
    /// 429 (RFC 6585 section 4): fewer requests, or a pause. Some hosts say so with 420, 430 or 509, or with a 403 that has `Retry-After`.
    case tooManyRequests
    /// 503 and 529, or a message about a quota. With a pause it is as a 429.
    case overloaded
    /// Another error of the server or a gateway. An unknown 5xx is as a 500, and so is a code that is none (RFC 9110 section 15).
    case serverError
    /// 408 and 425 (RFC 8470 section 5.2), and any other response with a `Retry-After` (RFC 9110 section 10.2.3): a later request may be
    /// answered. It says nothing of the host.
    case untimely
    /// No later request of the same run is answered otherwise.
    case final

    /// - Parameter pauses: the response asks for a pause.
    init(status: Int, pauses: Bool) {
        switch status {
        case 420, 429, 430, 509: self = .tooManyRequests
        case 403 where pauses: self = .tooManyRequests
        case 503, 529: self = .overloaded
        // Not implemented, not this version of HTTP.
        case 501, 505: self = pauses ? .untimely : .final
        case 500...: self = .serverError
        case 408, 425: self = .untimely
        default: self = pauses ? .untimely : .final
        }
    }
}

extension CoverFailure {
    /// Nil if no response refused the cover.
    var refusal: Refusal? {
        switch kind {
        case .overQuota: .overloaded
        case .status: Refusal(status: status ?? 0, pauses: pauses)
        // A page instead of the picture, until the picture is made.
        case .notAnImage where pauses: .untimely
        default: nil
        }
    }

    /// It asks for a pause. Some servers say `Retry-After: 0` with each error.
    var pauses: Bool { retryAfter.map { $0 > .zero } ?? false }
}
