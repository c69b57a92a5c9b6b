import CurlHTTP

/// Why a cover could not be had. `message` is one line that names the URL; it never holds credentials.
public struct CoverFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The classes of failure a program can act on.
    public enum Kind: String, Sendable, CaseIterable {
        /// The text is not an http or https URL, or holds credentials.
        case badURL
        /// The host's name has no address.
        case nameResolution
        /// No connection came about.
        case connect
        /// The connection broke before a response came, or what came is no HTTP.
        case broken
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
        /// No request was sent, as its host cannot be reached or asked for a pause. `detail` says which.
        case notTried
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

    /// Of a cover that was not tried: its host asked for fewer requests, or for none for a while.
    package internal(set) var isRateLimit = false

    /// Another host than that of `url` is the cause: one that a redirect leads to, or that of an alternative URL.
    package internal(set) var isElsewhere = false

    /// Where the URL stands in its list, where it came from one.
    public var line: Int?

    /// Trying again later may help: the network or the server was not up to it.
    package var mayPass: Bool { kind == .notTried || RetryPolicy.isTransient(self) }

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
            case .connect: .connect
            case .broken: .broken
            case .tls: .tls
            case .timeout: .timeout
            case .tooLarge: .tooLarge
            case .truncated: .truncated
            case .tooManyRedirects: .tooManyRedirects
            case .refusedAddress: .refusedAddress
            case .cancelled: .cancelled
            }
        self.init(kind, url: error.url, detail: Self.detail(of: error))
    }

    /// libcurl's line, in words people know: a host by its name and port, without milliseconds and system calls.
    private static func detail(of error: TransferError) -> String {
        let detail = Proxy(for: error.url)?.told(error.detail) ?? error.detail
        func begins(_ prefixes: String...) -> Bool { prefixes.contains { detail.hasPrefix($0) } }
        guard let cause = detail.split(separator: ": ").last else { return detail }
        let reason = cause.prefix(1).lowercased() + cause.dropFirst()
        switch error.kind {
        case .connect where begins("Failed to connect to "):
            return (try? HTTPURL(error.url)).map { "can't reach \($0.authority): \(reason)" } ?? detail
        case .broken where begins("Recv failure: ", "Send failure: "):
            return "the server broke the connection: \(reason)"
        case .nameResolution where begins("Could not resolve host: "):
            return "can't find \(cause): the name has no address"
        default: return detail
        }
    }

    /// A text that is no usable URL, as it may be repeated: whatever may hold a password is not.
    static func shown(_ text: String) -> String { text.contains("@") ? "(a URL with credentials)" : text }

    package static func cancelled(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "cancelled before it arrived")
    }

    static func closed(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "the library is closed")
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

    static func notTried(_ url: String, _ outage: DownloadHost.Outage) -> CoverFailure {
        var failure = CoverFailure(.notTried, url: url, detail: notTriedPrefix + outage.reason)
        failure.isRateLimit = outage.isRateLimit
        return failure
    }

    private static let notTriedPrefix = "not tried: "

    /// Of a cover that was not tried: what is wrong with its host, by name. Nil for other kinds.
    package var hostProblem: String? {
        kind == .notTried ? String(detail.dropFirst(Self.notTriedPrefix.count)) : nil
    }

    /// The failure, from a host that asks for a longer pause than Sleeve waits.
    func asking(for wait: Duration) -> CoverFailure {
        var failure = self
        failure.detail += "; it asks to wait \(wait.components.seconds) s, which is too long"
        return failure
    }

    /// What is wrong with a host whose last `count` transfers failed, this one last.
    func outage(of host: String, count: Int) -> String {
        let times = count == 1 ? "" : "s"
        switch kind {
        case .connect where detail.contains("refused"): return "\(host) refused \(count) connection\(times)"
        case .connect: return "\(host) can't be reached (\(count) attempt\(times))"
        case .nameResolution: return "the name \(host) can't be resolved (\(count) attempt\(times))"
        case .tls: return "\(host) has no TLS that can be trusted (\(count) attempt\(times))"
        case .timeout: return "\(host) did not answer \(count) request\(times) in time"
        case .overQuota: return "\(host) refused \(count) request\(times) as too many"
        case .status: return "\(host) answered \(status ?? 0) to \(count) request\(times)"
        default: return "\(host) failed \(count) time\(times)"
        }
    }

    /// It is about the host, not about this cover alone.
    var isHosts: Bool { kind == .overQuota || [413, 429, 503].contains(status) }

    /// The host of the cover cannot be reached: its other covers would fail as well.
    package var isHostUnreachable: Bool {
        switch kind {
        case .connect, .nameResolution, .tls, .timeout: !isElsewhere
        case .notTried: !isRateLimit && !isElsewhere
        default: false
        }
    }

    /// Host and port of `url`.
    package var host: String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return String(url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }
}

extension HostSignal {
    /// - Parameter failure: why a response holds no cover; nil: it holds one.
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
}
