package import CurlHTTP
import Platform

/// Why a cover could not be downloaded or read. `message` is one line that names the URL and never holds credentials.
public struct CoverFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The classes of failure a program can act on. Further ones may be added: switch with `@unknown default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Sendable, CaseIterable {
        /// The text is not an http or https URL, or holds credentials.
        case badURL
        /// The host's name has no address.
        case nameResolution
        /// No connection could be made.
        case connect
        /// The connection broke before the response was complete, or the response is not HTTP.
        case broken
        /// The server's certificate is not trusted, or TLS could not be set up.
        case tls
        /// Connecting or the transfer took longer than allowed, or the transfer was too slow.
        case timeout
        /// The body is larger than allowed or than the cache, or the header fields are larger than allowed.
        case tooLarge
        /// The body ended early.
        case truncated
        /// The server answered with a status other than 2xx.
        case status
        /// A complete 2xx response whose body is not an image.
        case notAnImage
        /// A complete 2xx response whose body is an error message about a rate limit or quota.
        case overQuota
        /// More redirects than are followed.
        case tooManyRedirects
        /// A redirect leads to a URL that may not be fetched, or the host's address is private.
        case refusedAddress
        /// The library is offline, and the cover is not cached or must not be served stale.
        case offline
        /// The call downloads nothing, and the cover is not cached.
        case notCached
        /// The task was cancelled, or the library closed.
        case cancelled
        /// The server forbids storing the response (`no-store`).
        case notStorable
        /// The cover was downloaded but could not be stored.
        case cache
        /// No request was sent, because the host cannot be reached or asked for a pause. `detail` says which.
        case notTried
        /// This process has too little memory or too few file descriptors.
        case outOfResources
    }

    /// The class of the failure.
    public var kind: Kind
    /// The URL as the caller gave it.
    public var url: String
    /// The cause, without the URL, with credentials redacted. The middle of a text of more than 500 bytes is left out: it may be a server's.
    public var detail: String {
        // An appended text may have the URL of a redirect.
        didSet { detail = Self.displayed(detail, 500) }
    }
    /// The HTTP status, if the server answered.
    public var status: Int?
    /// If the failure was remembered and no request was sent: when the URL is requested again, in milliseconds since 1970.
    public var rememberedUntil: Int64?
    /// The line of the list that named the URL.
    public var line: Int?
    /// A cached cover whose check failed as the checks before: it is gone from its server for good.
    public var isGone = false

    /// For `notTried`: what is wrong with the host, by name.
    package var hostProblem: String?
    /// For `connect`: the host has refused the connection.
    var isConnectionRefused = false
    /// For `notTried`: the host asked for fewer requests or for a pause.
    package var isRateLimit = false
    /// Another host than that of `url` failed: a redirect's target, or the host of an alternative URL.
    package var isElsewhere = false

    /// One line: the URL and what happened, with credentials redacted and the middle of a long URL left out.
    public var message: String { "\(Self.displayed(url, 300)): \(detail)" }
    /// The same as `message`.
    public var description: String { message }

    /// A failure made by the caller: for tests, or thrown by a transport.
    /// - Parameters:
    ///   - url: the URL as it was requested.
    ///   - detail: what happened, without the URL.
    ///   - status: the HTTP status, if the server answered.
    ///   - line: the line of the list that named the URL.
    public init(_ kind: Kind, url: String, detail: String, status: Int? = nil, line: Int? = nil) {
        self.kind = kind
        self.url = url
        self.detail = Self.displayed(detail, 500)
        self.status = status
        self.line = line
    }

    private static func displayed(_ text: String, _ limit: Int) -> String {
        Redaction.redact(text).shortened(to: limit)
    }
}

// MARK: - Classes of failures

extension CoverFailure {
    /// A retry may succeed: the network or the server failed for a moment.
    package var isTransient: Bool {
        switch kind {
        case .connect, .broken, .nameResolution, .timeout, .truncated, .outOfResources: true
        default: refusal.map { $0 != .final } ?? false
        }
    }

    /// A later run may succeed.
    package var isTemporary: Bool { kind == .notTried || isTransient }

    /// No other address would help.
    var isFinal: Bool { kind == .cancelled || kind == .cache || kind == .offline }

    /// The server has answered that there is no cover.
    var isAbsence: Bool { kind == .status && (status == 404 || status == 410) }

    /// The host of the cover cannot be reached: its other covers would fail as well.
    public var isHostUnreachable: Bool {
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

// MARK: - Failures without a response

extension CoverFailure {
    package static func cancelled(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "cancelled before it arrived")
    }

    /// RFC 6761 §6.4.
    package static func givenAsFile(_ url: String) -> CoverFailure {
        CoverFailure(
            .notCached, url: url,
            detail:
                "not in the cache: this cover has no address on the web; give its file again, or fill its music folder")
    }

    /// RFC 9111 §5.2.2.5.
    package static func notStorable(_ url: String) -> CoverFailure {
        CoverFailure(.notStorable, url: url, detail: "the server forbids storing it (Cache-Control: no-store)")
    }

    /// - Parameter reason: what is wrong with the host, by name.
    static func notTried(_ url: String, _ reason: String, isRateLimit: Bool) -> CoverFailure {
        var failure = CoverFailure(.notTried, url: url, detail: "not tried: \(reason)")
        failure.hostProblem = displayed(reason, 500)
        failure.isRateLimit = isRateLimit
        return failure
    }

    /// Describes a host whose last `count` transfers failed, the last one with this failure.
    func outage(of host: String, count: Int) -> String {
        let times = count == 1 ? "" : "s"
        switch kind {
        case .connect where isConnectionRefused: return "\(host) refused \(count) connection\(times)"
        case .connect: return "\(host) can't be reached (\(count) attempt\(times))"
        case .nameResolution: return "the name \(host) can't be resolved (\(count) attempt\(times))"
        case .tls: return "\(host) has no TLS that can be trusted (\(count) attempt\(times))"
        case .timeout: return "\(host) did not answer \(count) request\(times) in time"
        case .overQuota: return "\(host) rate-limited \(count) request\(times)"
        case .status: return "\(host) answered \(status ?? 0) to \(count) request\(times)"
        default: return "\(host) failed \(count) time\(times)"
        }
    }

    /// The failure of a host whose `Retry-After` exceeds what a run waits.
    func asking(for wait: Duration) -> CoverFailure {
        var failure = self
        failure.detail += "; it asks to wait \(wait.components.seconds) s, which is too long"
        return failure
    }

    /// The failure, with the URL that a redirect led to.
    func redirected(to target: HTTPURL) -> CoverFailure {
        var failure = self
        failure.detail += " (redirected to \(target))"
        failure.isElsewhere = true
        return failure
    }
}

// MARK: - Addresses

extension CoverFailure {
    /// The failure of a cover whose addresses have all failed: the first temporary one, else the first, with the details of all.
    /// - Parameter failures: at least one, in order.
    init(of failures: [CoverFailure]) {
        let cause = failures.firstIndex { $0.isTemporary } ?? 0
        self = failures[cause]
        isElsewhere = isElsewhere || cause > 0
        url = failures[0].url
        guard failures.count > 1 else { return }
        detail = failures[0].detail + failures.dropFirst().map { "; then \($0.message)" }.joined()
    }
}

extension HTTPURL {
    /// - Parameters:
    ///   - line: the line of the list that named it.
    ///   - ignored: as `LibraryConfiguration.ignoredParameters`.
    /// - Throws: `CoverFailure` if the text is no usable URL.
    package init(location: String, line: Int? = nil, ignoring ignored: Set<String>) throws(CoverFailure) {
        do throws(HTTPURL.Problem) {
            self = try HTTPURL(location, ignoring: ignored)
        } catch {
            throw CoverFailure(.badURL, url: Redaction.displayable(location), detail: "\(error)", line: line)
        }
    }
}
