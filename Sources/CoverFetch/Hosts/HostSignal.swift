import CurlHTTP

/// What the end of a transfer shows about its host.
enum HostSignal {
    /// The host works, even if it has no such cover.
    case answered
    /// 429, or a message about a quota.
    case rateLimited
    /// 503.
    case overloaded
    /// Another 5xx, or a response that broke off.
    case serverError
    /// No response in time.
    case timedOut
    /// No connection: no address, refused, no TLS.
    case unreachable

    /// - Parameter failure: why a response holds no cover; nil if it holds one.
    init(_ failure: CoverFailure?) {
        switch (failure?.kind, failure?.status) {
        case (.overQuota, _), (.status, 429): self = .rateLimited
        case (.status, 503): self = .overloaded
        case (.status, 500), (.status, 502), (.status, 504): self = .serverError
        default: self = .answered
        }
    }

    /// - Parameter error: why there is no response.
    init(_ error: TransferError) {
        switch error.kind {
        case .nameResolution, .connect, .tls: self = .unreachable
        case .timeout: self = .timedOut
        case .broken, .truncated: self = .serverError
        case .tooLarge, .tooManyRedirects, .refusedAddress, .cancelled: self = .answered
        }
    }

    /// Fewer requests may help.
    var isOverload: Bool { self == .rateLimited || self == .overloaded || self == .timedOut }

    /// What it means to the breaker; nil if it is no failure.
    var failure: Breaker.Failure? {
        switch self {
        case .answered: nil
        case .rateLimited: .rateLimited
        case .overloaded, .serverError: .serverError
        case .timedOut, .unreachable: .unreachable
        }
    }
}
