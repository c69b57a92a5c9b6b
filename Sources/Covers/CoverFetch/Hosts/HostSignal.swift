import CurlHTTP

/// The sign that the end of a transfer gives of its host.
enum HostSignal: Equatable {
    /// The host works, even if it has no such cover.
    case answered
    /// `Refusal.tooManyRequests`, or `overloaded` with a pause. - pause: what `Retry-After` asks for; nil if it names none.
    case rateLimited(pause: Duration?)
    /// `Refusal.overloaded`.
    case overloaded
    /// `Refusal.serverError`, or a response that broke off.
    case serverError
    /// The connection broke before the response began.
    case broken
    /// No response in time.
    case timedOut
    /// No connection: no address, refused, no TLS.
    case unreachable

    /// - Parameter failure: why a response holds no cover; nil if it holds one.
    init(_ failure: CoverFailure?) {
        let pause = failure.flatMap { $0.pauses ? $0.retryAfter : nil }
        switch failure?.refusal {
        case .tooManyRequests: self = .rateLimited(pause: pause)
        case .overloaded: self = pause == nil ? .overloaded : .rateLimited(pause: pause)
        case .serverError: self = .serverError
        case .untimely, .final, nil: self = .answered
        }
    }

    /// - Parameter error: why there is no response.
    init(_ error: TransferError) {
        switch error.kind {
        case .nameResolution, .connect, .tls: self = .unreachable
        case .timeout: self = .timedOut
        case .broken: self = .broken
        case .truncated: self = .serverError
        case .tooLarge, .coding, .tooManyRedirects, .refusedAddress, .cancelled, .outOfResources, .other:
            self = .answered
        }
    }

    /// Fewer requests may help.
    var isOverload: Bool { isRateLimit || self == .overloaded || self == .timedOut }

    /// One connection too many may end so.
    var mayMeanCrowding: Bool {
        switch self {
        case .overloaded, .broken, .timedOut, .unreachable: true
        case .rateLimited, .serverError, .answered: false
        }
    }

    /// There is no response.
    var hasNoResponse: Bool { self == .broken || self == .timedOut || self == .unreachable }

    var isRateLimit: Bool { if case .rateLimited = self { true } else { false } }

    /// The failure for the breaker; nil if it is none.
    var failure: Breaker.Failure? {
        switch self {
        case .answered: nil
        case .rateLimited(let pause): .rateLimited(pause: pause)
        case .overloaded, .serverError, .broken: .serverError
        case .timedOut, .unreachable: .unreachable
        }
    }
}
