import CurlHTTP

/// Why a cover could not be had. `message` is one line that names the URL; it never holds credentials.
public struct CoverFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The classes of failure a program can act on.
    public enum Kind: String, Sendable, CaseIterable {
        /// The text is not an http or https URL, or holds credentials.
        case badURL
        /// The host's name has no address.
        case nameResolution
        /// No connection, or it broke before the response was whole.
        case connect
        /// The server's certificate is not trusted, or TLS could not be set up.
        case tls
        /// Connecting, the whole transfer, or its slowness took longer than allowed.
        case timeout
        /// The body is larger than allowed, or than the cache; or the fields before it are.
        case tooLarge
        /// The body ended early.
        case truncated
        /// The server answered with a status other than 2xx.
        case status
        /// A complete 2xx whose body is not an image.
        case notAnImage
        /// A complete 2xx that says, in place of a cover, that too much was asked for.
        case overQuota
        /// More redirects than are followed.
        case tooManyRedirects
        /// A redirect led to what may not be fetched.
        case refusedAddress
        /// The host's `/robots.txt` forbids it, which the library was told to respect.
        case disallowed
        /// It is not in the cache and the library is offline; or it is, but stale, and must not be shown then.
        case offline
        /// The task that asked was cancelled, or the library closed.
        case cancelled
        /// The server forbids keeping it.
        case notStorable
        /// The cover came, but could not be kept.
        case cache
    }

    /// The class of the failure.
    public var kind: Kind
    /// The URL asked for, as given.
    public var url: String
    /// What happened, without the URL.
    public var detail: String
    /// The HTTP status, where there was one.
    public var status: Int?

    /// The server was not asked this time, since it had said the same before: until then, in milliseconds since 1970.
    public var rememberedUntil: Int64?

    /// Where the URL stands in its list, where it came from one.
    public var line: Int?

    /// Trying again later may help: the network or the server was not up to it.
    package var mayPass: Bool { RetryPolicy.isTransient(self) }

    /// One line: the URL and what happened, without what grants access (tokens and signatures in the URL's query).
    public var message: String { Secrets.hidden(in: "\(url): \(detail)") }
    /// The same as `message`.
    public var description: String { message }

    init(_ kind: Kind, url: String, detail: String, status: Int? = nil, line: Int? = nil) {
        self.kind = kind
        self.url = url
        self.detail = Secrets.hidden(in: detail)
        self.status = status
        self.line = line
    }

    init(_ error: TransferError) {
        let kind: Kind =
            switch error.kind {
            case .nameResolution: .nameResolution
            case .connect, .broken: .connect
            case .tls: .tls
            case .timeout: .timeout
            case .tooLarge: .tooLarge
            case .truncated: .truncated
            case .tooManyRedirects: .tooManyRedirects
            case .refusedAddress: .refusedAddress
            case .cancelled: .cancelled
            }
        self.init(kind, url: error.url, detail: Proxy(for: error.url)?.told(error.detail) ?? error.detail)
    }

    /// A text that is no usable URL, as it may be repeated: whatever may hold a password is not.
    static func shown(_ text: String) -> String { text.contains("@") ? "(a URL with credentials)" : text }

    package static func cancelled(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "cancelled before it arrived")
    }

    /// RFC 9111 §5.2.2.5.
    static func notStorable(_ url: String) -> CoverFailure {
        CoverFailure(.notStorable, url: url, detail: "the server forbids keeping it (Cache-Control: no-store)")
    }

    /// RFC 9111 §5.2.2.2, §5.2.2.4.
    static func staleOffline(_ url: String) -> CoverFailure {
        CoverFailure(
            .offline, url: url,
            detail: "offline, and \(Staleness.reason)")
    }

    static func offline(_ url: String) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "not in the cache, and offline")
    }

    /// RFC 9309.
    /// - Parameter problem: why the host's rules are not known.
    static func disallowed(_ url: String, _ problem: String?) -> CoverFailure {
        let detail =
            problem.map { "the host's robots.txt cannot be had, so nothing may be fetched (--respect-robots): \($0)" }
            ?? "the host's robots.txt forbids it (--respect-robots)"
        return CoverFailure(.disallowed, url: url, detail: detail)
    }

    /// The host's count of requests is used up (`RateLimit`).
    static func exhausted(_ url: String) -> CoverFailure {
        CoverFailure(.overQuota, url: url, detail: "the server takes no more requests for now")
    }

    /// The same, asked of an earlier run.
    static func resting(_ wait: Duration) -> CoverFailure {
        CoverFailure(
            .overQuota, url: "",
            detail: "it asked an earlier run to be left alone, for another \(wait.components.seconds) s")
    }

    /// The same, from a host that wants longer peace than anybody waits.
    func asking(for wait: Duration) -> CoverFailure {
        var failure = self
        failure.detail += "; it asks to be left alone for \(wait.components.seconds) s, which is too long to wait"
        return failure
    }

    /// The same for another cover of the host, which was not asked for it again.
    func spreading(to url: String) -> CoverFailure {
        CoverFailure(kind, url: url, detail: "its host was given up: \(detail)", status: status)
    }

    /// It is about the host, not about this cover alone.
    var isHosts: Bool { kind == .overQuota || [413, 429, 503].contains(status) }

    /// What the failure of a transfer shows of its host.
    var sign: HostSign {
        switch kind {
        case .overQuota: .overrun
        case .timeout: .overloaded
        case .connect, .nameResolution, .tls, .truncated: .failed
        case .status:
            switch status {
            case 429: .overrun
            case 503: .overloaded
            case 500, 502, 504: .failed
            default: .answered
            }
        default: .answered
        }
    }
}
