import CurlHTTP
import HTTPTypes
import ImageHeader

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
        _ response: TransferResponse, of url: HTTPURL, at target: HTTPURL, redirectCount: Int, policy: RedirectPolicy,
        revalidated: StoredVersion?
    ) {
        switch policy.decide(response, of: url, at: target, redirectCount: redirectCount) {
        case .success(let target): self = .redirect(target)
        case .failure(let failure): self = .failure(failure)
        case nil:
            if response.head.status == .notModified, let revalidated {
                self = .notModified(revalidated)
            } else {
                self.init(final: response, of: url, at: target, isRedirected: redirectCount > 0)
            }
        }
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
