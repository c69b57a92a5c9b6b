/// What a status that brings no cover means: whether it is retried, and what it says of its host. RFC 9110 section 15, and the unregistered
/// codes of gateways.
enum Refusal {
    /// 429 (RFC 6585 section 4): fewer requests, or a pause.
    case tooManyRequests
    /// 503 and 529, or a message about a quota. With a pause it is as a 429.
    case overloaded
    /// Another error of the server or a gateway: also 507 (RFC 4918 section 11.5), 508 (RFC 5842 section 7.2), 520 to 530, and 598 and 599 for
    /// time-outs.
    case serverError
    /// 408 and 425 (RFC 8470 section 5.2): a later request may be answered. It says nothing of the host.
    case untimely
    /// No later request of the same run is answered otherwise.
    case final

    init(status: Int) {
        switch status {
        case 429: self = .tooManyRequests
        case 503, 529: self = .overloaded
        case 500, 502, 504, 507, 508, 520...530, 598, 599: self = .serverError
        case 408, 425: self = .untimely
        default: self = .final
        }
    }
}

extension CoverFailure {
    /// Nil if no response refused the cover.
    var refusal: Refusal? {
        switch kind {
        case .overQuota: .overloaded
        case .status: Refusal(status: status ?? 0)
        default: nil
        }
    }
}
