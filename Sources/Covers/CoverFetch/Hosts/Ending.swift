/// How a transfer ended: what that means for its cover and for its host. Everything that is decided at the end of a transfer is decided by this
/// one value; <doc:Hosts> has it as a table.
///
/// Statuses mean what RFC 9110 section 15 says, and what gateways mean by those that are not registered.
package enum Ending: Hashable, Sendable {
    /// A cover, a 304, or a redirect.
    case answered
    /// The server has no such cover (404 and 410).
    case absent
    /// No later request of the run is answered otherwise. The host works.
    case failed
    /// A later request may be answered otherwise, which says nothing of the host: 408 and 425 (RFC 8470 section 5.2), and any response with a
    /// `Retry-After` (RFC 9110 section 10.2.3).
    case untimely
    /// The host asks for fewer requests or for a pause: 429 (RFC 6585 section 4) and what some hosts say instead (420, 430, 509); 503 and 529,
    /// a message about a quota, and a 403, with a pause.
    /// - pause: what `Retry-After` asks for; nil if it names none.
    case refused(pause: Duration?)
    /// 503 and 529, or a message about a quota, without a pause.
    case overloaded
    /// Another error of the server or a gateway, or a response that broke off. An unknown 5xx is as a 500, and so is a code that is none.
    case erroneous
    /// The connection broke before the response began.
    case broken
    /// No response in time.
    case silent
    /// No connection: no address, refused, out of reach.
    case unreachable
    /// The host has no TLS that can be trusted.
    case untrusted
    /// This process lacks memory or descriptors.
    case unsent
    /// The request was given up.
    case cancelled

    // MARK: Its cover

    /// A retry within the run may succeed.
    var mayPass: Bool {
        switch self {
        case .untimely, .refused, .overloaded, .erroneous, .broken, .silent, .unreachable, .unsent: true
        case .answered, .absent, .failed, .untrusted, .cancelled: false
        }
    }

    // MARK: Its host

    /// It says something of the host: no request was given up, and none was kept back.
    var tellsOfHost: Bool { self != .unsent && self != .cancelled }

    /// What different requests that end so weigh for the breaker; nil if it shows no fault of the host's. A few bad URLs are no sign of a host
    /// that fails, so an answered error weighs a third.
    var weight: Int? {
        switch self {
        case .answered, .absent, .failed, .untimely, .unsent, .cancelled: nil
        case .overloaded, .erroneous, .broken: 1
        case .refused, .silent, .unreachable, .untrusted: 3
        }
    }

    /// Fewer requests may help.
    var isOverload: Bool {
        switch self {
        case .refused, .overloaded, .silent: true
        default: false
        }
    }

    /// One connection too many may end so.
    var mayMeanCrowding: Bool { self == .overloaded || hasNoResponse }

    /// There is no response.
    var hasNoResponse: Bool {
        switch self {
        case .broken, .silent, .unreachable, .untrusted: true
        default: false
        }
    }

    var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// What the host asks for; nil for nothing.
    var pause: Duration? { if case .refused(let pause) = self { pause } else { nil } }
}

extension Ending {
    /// - Parameters:
    ///   - status: of a response that brings no cover.
    ///   - pause: what its `Retry-After` asks for; nil if that is nothing.
    init(status: Int, pause: Duration?) {
        switch status {
        case 420, 429, 430, 509: self = .refused(pause: pause)
        case 403 where pause != nil: self = .refused(pause: pause)
        case 503, 529: self = pause == nil ? .overloaded : .refused(pause: pause)
        // Not implemented, not this version of HTTP.
        case 501, 505: self = pause == nil ? .failed : .untimely
        case 500...: self = .erroneous
        case 408, 425: self = .untimely
        case 404, 410: self = pause == nil ? .absent : .untimely
        default: self = pause == nil ? .failed : .untimely
        }
    }
}

extension CoverFailure {
    /// How the transfer that failed so has ended.
    var ending: Ending {
        let pause = pauses ? retryAfter : nil
        return switch kind {
        case .status: Ending(status: status ?? 0, pause: pause)
        case .overQuota: Ending(status: 503, pause: pause)
        case .truncated: .erroneous
        case .broken: .broken
        case .timeout: .silent
        case .nameResolution, .connect: .unreachable
        case .tls: .untrusted
        case .outOfResources: .unsent
        case .cancelled, .closed: .cancelled
        // A page instead of the picture, until the picture is made.
        case .notAnImage where pauses: .untimely
        case .notAnImage, .tooLarge, .tooManyRedirects, .refusedAddress, .notStorable, .placeholder: .failed
        // No transfer ends so.
        case .badURL, .badSize, .offline, .notCached, .notTried, .cache, .unknown: .failed
        }
    }

    /// It asks for a pause. Some servers say `Retry-After: 0` with each error.
    var pauses: Bool { retryAfter.map { $0 > .zero } ?? false }
}
