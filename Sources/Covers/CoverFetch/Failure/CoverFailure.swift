package import CurlHTTP
package import Logging
public import Platform

/// Why a cover could not be downloaded or read. `message` is one line that names the URL and never holds credentials. <doc:Errors> has the
/// kinds in a table.
public struct CoverFailure: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The classes of failure a program can act on. Further ones may be added: switch with `default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The text is not an http or https URL, or holds credentials.
        case badURL
        /// The size is none of those that the cache keeps.
        case badSize
        /// The host's name has no address.
        case nameResolution
        /// No connection could be made.
        case connect
        /// The connection broke before the response was complete, or the response is not HTTP.
        case broken
        /// The server's certificate is not trusted, or TLS could not be set up.
        case tls
        /// Connecting or the transfer took longer than allowed, the transfer was too slow, or the request's own time was over.
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
        /// One picture in place of cached covers that were different ("no longer available"). They stay.
        case placeholder
        /// More redirects than are followed.
        case tooManyRedirects
        /// A redirect leads to a URL that may not be fetched, or the host's address is private.
        case refusedAddress
        /// The library is offline, and the cover is not cached or must not be served stale.
        case offline
        /// The cover is not cached, and no server is asked for it.
        case notCached
        /// The task was cancelled.
        case cancelled
        /// The library was closed, or the service of the caller shuts down.
        case closed
        /// The server forbids storing the response (`no-store`).
        case notStorable
        /// The cover was downloaded but could not be stored.
        case cache
        /// No request was sent, because the host cannot be reached or asked for a pause. `detail` says which.
        case notTried
        /// This process has too little memory or too few file descriptors.
        case outOfResources
        /// A class that this version does not know: the failure was encoded by a later one.
        case unknown
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
    /// How long to wait before the next request, counted from the failure: what the server asked for, or the rest of the time for which its host
    /// is left alone. Nil if neither is known.
    public var retryAfter: Duration?
    /// When the URL is requested again, if the cache remembers the failure (404, 410); nil if it does not.
    public var rememberedUntil: Date?
    /// The line of the list that named the URL.
    public var line: Int?
    /// A cached cover whose check failed as the checks before: it is gone from its server for good. The cover stays, and is asked for again.
    public var isGone = false

    /// For `notTried`: what is wrong with the host, by name.
    package var hostProblem: String?
    /// `isGone`, for the first time.
    package var isNewlyGone = false
    /// The cache has remembered the failure, and no request was sent.
    package var isRemembered = false
    /// The server has refused the URL, whose signature holds no longer.
    package var hasExpiredSignature = false
    /// For `placeholder`: the picture.
    package var placeholder: Placeholder?
    /// For `connect`: the host has refused the connection.
    var isConnectionRefused = false
    /// As `TransferError.isOfHTTP2`.
    var isOfHTTP2 = false
    /// As `TransferError.isPartial`.
    var isPartial = false
    /// No connection to the proxy of the environment was made; for `notTried`, the proxy was given up.
    package var isOfProxy = false
    /// As `TransferError.silentFamily`.
    var silentFamily: AddressFamily?
    /// For `notTried`: the host asked for fewer requests or for a pause.
    package var isRateLimit = false
    /// Another host than that of `url` failed: a redirect's target, or the host of an alternative URL.
    package var isElsewhere = false
    /// The request itself allows no more: its own time was over, or it asks no server. Other requests for the URL may end otherwise.
    package var endsRequest = false

    /// A picture that was given in place of covers that were different.
    package struct Placeholder: Sendable, Hashable {
        package let digest: Digest
        /// Covers that it had replaced, and that are back.
        package let restored: Int
    }

    private enum CodingKeys: String, CodingKey {
        case kind, url, detail, status, retryAfter, rememberedUntil, line, isGone, isRateLimit, isElsewhere
    }

    /// One line: the URL and what happened, with credentials redacted and the middle of a long URL left out.
    public var message: String { url.isEmpty ? detail : "\(Self.displayed(url, 300)): \(detail)" }
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
    /// A later request may succeed: the network or the server failed for a moment, or the host is left alone for a while (`notTried`).
    public var isRetryable: Bool { kind == .notTried || isTransient }

    /// The status with which a server that gives covers to others answers its own client (RFC 9110 section 15.6). A 503 has `retryAfter`, if that
    /// is known, as `Retry-After`.
    public var gatewayStatus: Int {
        switch kind {
        case .badURL, .badSize: 400
        case .refusedAddress: 403
        case .notCached: 404
        case .cache: 500
        case .timeout, .offline: 504
        case .notTried, .overQuota, .cancelled, .closed, .outOfResources: 503
        case .status where isAbsence: 404
        case .status where isTransient && retryAfter != nil: 503
        case .status, .nameResolution, .connect, .broken, .tls, .truncated, .notAnImage, .placeholder, .tooLarge,
            .tooManyRedirects, .notStorable, .unknown:
            502
        }
    }

    /// A retry within the run may succeed: the network or the server failed for a moment.
    package var isTransient: Bool { ending.mayPass }

    /// A server has just answered, and may answer otherwise to another address with the same key: one with a newer signature, say.
    package var isOfAddress: Bool {
        if status == nil || pauses || isRemembered { return false }
        return !ending.isRefusal && ending != .overloaded
    }

    /// Its request was given up before its end.
    package var isGivenUp: Bool { kind == .cancelled || kind == .closed }

    /// It says nothing about the cover: its request was given up, or the cache failed.
    package var leavesCoverUnknown: Bool { isGivenUp || kind == .cache }

    /// No other address would help.
    var isFinal: Bool { leavesCoverUnknown || endsRequest || kind == .offline }

    /// The server has answered that there is no cover, rather than none yet.
    package var isAbsence: Bool { ending == .absent }

    /// The server has answered without the cover, and says nothing that would pass: a refusal (401, 403, 451), a page instead of the picture,
    /// `no-store`, a redirect that leads nowhere. An error of the server's (5xx) may pass, and one of a proxy (407) is not the server's.
    package var isFinalAnswer: Bool {
        switch kind {
        case .status: !isTransient && status.map { $0 < 500 && $0 != 407 } == true
        case .notAnImage: !isTransient
        case .notStorable, .placeholder, .tooManyRedirects, .refusedAddress: true
        default: false
        }
    }

    /// The server may refuse everything that this machine asks for.
    package var mayBeBan: Bool { kind == .status && status == 403 && !hasExpiredSignature }

    /// Host and port that failed; nil if it is another one than that of `url`: a redirect's target, or the host of an alternative URL.
    public var failedHost: String? { isElsewhere || host.isEmpty ? nil : host }

    /// The host of the cover cannot be reached: its other covers would fail as well.
    public var isHostUnreachable: Bool {
        switch kind {
        // A caller that had no more time says nothing of the host.
        case .connect, .nameResolution, .tls, .timeout: !isElsewhere && !endsRequest
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

extension CoverFailure {
    /// The module that a program imports.
    package static let logSource = "CoverLibrary"

    /// What a log collector may select messages by.
    package var metadata: Logger.Metadata {
        ["url": "\(Self.displayed(url, 300))", "host": "\(Redaction.redact(host))", "kind": "\(kind.rawValue)"]
    }
}

// MARK: - Failures without a response

extension CoverFailure {
    package static func cancelled(_ url: String) -> CoverFailure {
        CoverFailure(.cancelled, url: url, detail: "cancelled before it arrived")
    }

    package static func closed(_ url: String) -> CoverFailure {
        CoverFailure(.closed, url: url, detail: "the library is closed")
    }

    /// - Parameter time: what the request had.
    static func overdue(_ url: String, _ time: Duration) -> CoverFailure {
        CoverFailure(.timeout, url: url, detail: "no cover arrived within the \(time) of the request")
    }

    /// The failure of a request whose next attempt would start too late.
    /// - Parameter time: what the request had.
    func leavingNoAttempt(within time: Duration) -> CoverFailure {
        var failure = self
        failure.detail += "; no other attempt can start within the \(time) of the request"
        return failure
    }

    /// RFC 6761 §6.4.
    package static func givenAsFile(_ url: String) -> CoverFailure {
        CoverFailure(
            .notCached, url: url,
            detail:
                "not in the cache, and no server has a name that ends in .invalid; if it was a picture of yours, choose its file again"
        )
    }

    /// A picture whose own format says that it is incomplete replaces none that is complete.
    package static func cutOff(_ url: String) -> CoverFailure {
        CoverFailure(.truncated, url: url, detail: "the new picture is cut off; the cached one stays")
    }

    /// - Parameter restored: covers that it had replaced, and that are back.
    package static func placeholder(_ url: String, _ digest: Digest, restored: Int) -> CoverFailure {
        let detail = "the new picture is a placeholder, the same in place of covers that were different"
        var failure = CoverFailure(.placeholder, url: url, detail: detail + "; the cached one stays")
        failure.placeholder = Placeholder(digest: digest, restored: restored)
        return failure
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
        case .nameResolution: return "\(host) can't be found: its name has no address (\(count) attempt\(times))"
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

// What decodes the properties of these types calls it in place of the container's own: later versions may have further kinds.
extension KeyedDecodingContainer {
    package func decode(_ type: CoverFailure.Kind.Type, forKey key: Key) throws -> CoverFailure.Kind {
        CoverFailure.Kind(rawValue: try decode(String.self, forKey: key)) ?? .unknown
    }
}

extension CoverFailure: LocalizedError {
    /// The same as `message`.
    public var errorDescription: String? { message }
}

// MARK: - Addresses

extension CoverFailure {
    /// The failure of a cover whose addresses have all failed: the first temporary one, else the first, with the details of all.
    /// - Parameter failures: at least one, in order.
    init(of failures: [CoverFailure]) {
        let cause = failures.firstIndex { $0.isRetryable } ?? 0
        self = failures[cause]
        isElsewhere = isElsewhere || cause > 0
        url = failures[0].url
        guard failures.count > 1 else { return }
        detail = failures[0].detail + failures.dropFirst().map { "; then \($0.message)" }.joined()
    }
}

extension HTTPURL {
    /// What tells the addresses of one key apart: the key itself, unless it leaves something out.
    package var address: String { omitsParameters ? requestURL : string }

    /// - Parameter ignored: as `LibraryConfiguration.ignoredParameters`.
    /// - Throws: `CoverFailure` if the text is no usable URL.
    package init(location: String, ignoring ignored: Set<String>) throws(CoverFailure) {
        do throws(HTTPURL.Problem) {
            self = try HTTPURL(location, ignoring: ignored)
        } catch {
            throw CoverFailure(.badURL, url: Redaction.displayable(location), detail: "\(error)")
        }
    }
}
