import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

/// The consequence of a response for the job that requested it.
enum ResponseDisposition {
    /// Request the target of a redirect.
    case redirect(HTTPURL)
    /// 304: the stored response is still valid.
    case notModified(StoredVersion)
    /// A complete 200 or 203 whose body is an image, whatever its media type says.
    case cover(ImageHeader)
    case failure(CoverFailure)

    /// The bytes with which every type of image can be recognised.
    private static let recognizable = 12

    /// - Parameters:
    ///   - url: the cover's own URL.
    ///   - target: the URL requested: `url`, or the target of a redirect.
    ///   - redirectCount: redirects followed so far.
    ///   - revalidated: the version whose validators the request sent.
    init(
        _ response: TransferResponse, of url: HTTPURL, at target: HTTPURL, redirectCount: Int,
        allowsDowngrades: Bool = false, revalidated: StoredVersion?
    ) {
        let next = RedirectPolicy.decide(
            response, of: url, at: target, redirectCount: redirectCount, allowsDowngrades: allowsDowngrades)
        switch next {
        case .success(let target): self = .redirect(target)
        case .failure(let failure): self = .failure(failure)
        case nil:
            if response.head.status == .notModified, let revalidated {
                self = .notModified(revalidated)
            } else {
                self.init(final: response, of: url, at: target, isRedirected: redirectCount > 0)
            }
        }
        guard var failure else { return }
        // It binds the response's URL; the host's other covers wait when several are refused and none arrives in between.
        failure.retryAfter = RetryAfter.delay(response.head.headerFields, now: WallClock.milliseconds() / 1_000)
        self = .failure(failure)
    }

    var failure: CoverFailure? { if case .failure(let failure) = self { failure } else { nil } }

    private init(final response: TransferResponse, of url: HTTPURL, at target: HTTPURL, isRedirected: Bool) {
        let status = response.head.status
        let redirected = isRedirected ? " (redirected to \(target.requestURL))" : ""
        func fail(_ kind: CoverFailure.Kind, _ detail: String) -> Self {
            .failure(CoverFailure(kind, url: url.string, detail: detail + redirected, status: status.code))
        }
        guard status == .ok || status == .nonAuthoritativeInformation else {
            if status.code == 407, let proxy = Proxy(for: target.requestURL) {
                self = fail(.status, "\(proxy.refusal) (407)")
            } else {
                let isExpired = SignatureExpiry.explains(response, to: target)
                var failure = CoverFailure(
                    .status, url: url.string,
                    detail: Self.describe(status) + (isExpired ? ": the URL's signature has expired" : "") + redirected,
                    status: status.code)
                failure.hasExpiredSignature = isExpired
                self = .failure(failure)
            }
            return
        }
        // The end of the connection is no sign of the end of the body (RFC 9112 section 8).
        if !response.isEndMarked, response.body.count < Self.recognizable {
            self = fail(.truncated, "the body ended early, after \(response.body.count) bytes")
            return
        }
        guard let header = response.body.withUnsafeBytes({ ImageHeader($0) }) else {
            let content = response.body.withUnsafeBytes { ImageHeader.describe($0) }
            let isQuota = ["JSON", "XML", "text"].contains(content) && Self.mentionsQuota(response.body)
            self =
                isQuota
                ? fail(.overQuota, "the server answered \(status.code), but with \(content) about too many requests")
                : fail(.notAnImage, "the server answered \(status.code), but with \(content), not an image")
            return
        }
        if !response.isEndMarked, !response.body.withUnsafeBytes({ ImageHeader.isComplete($0) }) {
            self = fail(.truncated, "the body ended early: the image is cut off after \(response.body.count) bytes")
            return
        }
        self = .cover(header)
    }

    /// Why a status other than 200 and 203 brings no cover.
    private static func describe(_ status: HTTPResponse.Status) -> String {
        switch status.code {
        // The representation of another resource, or of the state of a request (RFC 9110 sections 15.3.2 and 15.3.3).
        case 201: "the server answered 201 Created: the body describes a new resource, not the cover"
        case 202: "the server answered 202 Accepted: the cover is not ready yet"
        case 204: "the server has no content for this URL (204)"
        case 205: "the server sent no content (205)"
        // The client takes a 206 for everything as a 200.
        case 206: "the server sent a part of the cover, unasked (206)"
        // RFC 4918 section 13, RFC 3229 section 10.4.1: no `Depth` and no `A-IM` was sent.
        case 207: "the server answered 207 Multi-Status, which is no cover"
        case 226: "the server sent a difference between two versions, unasked (226)"
        default: "the server answered \(status.code)" + (status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)")
        }
    }

    /// Whether a text of up to 2 KiB mentions a rate limit or quota. Some APIs say so with a 200. Pages and scripts contain such
    /// words, too.
    private static func mentionsQuota(_ bytes: [UInt8]) -> Bool {
        if bytes.count > 2_048 { return false }
        let text = String(decoding: bytes, as: UTF8.self).lowercased().filter {
            $0 != "_" && $0 != "-" && $0 != " "
        }
        return [
            "ratelimit", "toomanyrequests", "quotaexceed", "exceededquota", "overquota", "throttled", "requestlimit",
        ]
        .contains { text.contains($0) }
    }
}

/// What says that the signature of a URL has expired: the server refuses that URL, and not this machine.
enum SignatureExpiry {
    /// Statuses that servers answer then.
    private static let statuses = [400, 401, 403]

    /// - Parameters:
    ///   - response: of a server that may have refused a signature.
    ///   - url: what was requested.
    static func explains(_ response: TransferResponse, to url: HTTPURL) -> Bool {
        guard statuses.contains(response.head.status.code) else { return false }
        if let end = url.signatureEnd, end < WallClock.milliseconds() / 1_000 { return true }
        // Amazon, Google and Facebook; Azure.
        let text = String(decoding: response.refusal, as: UTF8.self).lowercased()
        return text.contains("expired") || text.contains("not valid in the specified time frame")
    }
}

extension HTTPURL {
    /// When the signature of the URL expires by its query, in seconds since 1970; nil if the query does not say so.
    ///
    /// Object stores and image hosts sign URLs for a time. Its end is a number of seconds or milliseconds (CloudFront, Google, Alibaba), one in
    /// hexadecimal digits (Discord, Facebook), a date (Azure), or a date and a number of seconds (Amazon's version 4 and its like).
    var signatureEnd: Int64? {
        var (begin, lifetime): (Int64?, Int64?)
        let query = requestURL.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
            .joined()
        for parameter in query.split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = String(parts[1].replacing("%3A", with: ":").replacing("%3a", with: ":"))
            switch parts[0].lowercased() {
            case "expires", "expire", "expiry", "exp", "e": if let time = Self.time(value) { return time }
            case "ex", "oe": if value.count == 8, let time = Int64(value, radix: 16) { return time }
            case "se": if let time = HTTPDate.seconds(ofISO8601: value) { return time }
            // Akamai: several values in one.
            case "hdnts", "hdnea", "__token__":
                let fields = value.split(separator: "~")
                if let field = fields.first(where: { $0.hasPrefix("exp=") }), let time = Self.time(field.dropFirst(4)) {
                    return time
                }
            case let name where name.hasPrefix("x-") && name.hasSuffix("-date"):
                begin = HTTPDate.seconds(ofISO8601: value)
            case let name where name.hasPrefix("x-") && name.hasSuffix("-expires"):
                lifetime = Int64(value).flatMap { (0...1 << 32).contains($0) ? $0 : nil }
            default: break
            }
        }
        if let begin, let lifetime { return begin + lifetime }
        return nil
    }

    /// A number of ten digits in seconds, or of thirteen in milliseconds.
    private static func time(_ text: some StringProtocol) -> Int64? {
        guard text.allSatisfy(\.isASCII), let number = Int64(text), number > 0 else { return nil }
        switch text.count {
        case 10: return number
        case 13: return number / 1_000
        default: return nil
        }
    }
}
