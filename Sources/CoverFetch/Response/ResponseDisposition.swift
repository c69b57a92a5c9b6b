import CurlHTTP
import HTTPTypes
import ImageHeader

/// What a response means for the job that requested it.
enum ResponseDisposition {
    /// Request the target of a redirect.
    case redirect(HTTPURL)
    /// 416 to a range request: the body has changed or was complete. Request all of it (RFC 9110 §15.5.17).
    case rangeNotSatisfiable
    /// 304: the stored response is still valid.
    case notModified(any StoredVersion)
    /// A complete 2xx response whose body is an image, whatever its media type says.
    case cover(ImageHeader)
    case failure(CoverFailure)

    /// - Parameters:
    ///   - url: the cover's own URL.
    ///   - target: the URL requested: `url`, or the target of a redirect.
    ///   - redirectCount: redirects followed so far.
    ///   - stored: the version to revalidate.
    ///   - isRange: the request was for the rest of a body.
    init(
        _ response: TransferResponse, of url: HTTPURL, at target: HTTPURL, redirectCount: Int, policy: RedirectPolicy,
        stored: (any StoredVersion)?, isRange: Bool
    ) {
        switch policy.decide(response, of: url, at: target, redirectCount: redirectCount) {
        case .success(let target): self = .redirect(target)
        case .failure(let failure): self = .failure(failure)
        case nil where isRange && response.head.status == .rangeNotSatisfiable: self = .rangeNotSatisfiable
        case nil:
            if response.head.status == .notModified, let stored {
                self = .notModified(stored)
            } else {
                self.init(final: response, url: url.string)
            }
        }
    }

    var failure: CoverFailure? { if case .failure(let failure) = self { failure } else { nil } }

    private init(final response: TransferResponse, url: String) {
        let status = response.head.status
        let redirected = response.redirectedTo.map { " (redirected to \($0))" } ?? ""
        func fail(_ kind: CoverFailure.Kind, _ detail: String) -> Self {
            .failure(CoverFailure(kind, url: url, detail: detail + redirected, status: status.code))
        }
        guard status.kind == .successful else {
            if status.code == 407, let proxy = Proxy(for: response.redirectedTo ?? url) {
                self = fail(.status, "\(proxy.refusal) (407)")
            } else {
                let reason = status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)"
                self = fail(.status, "the server answered \(status.code)\(reason)")
            }
            return
        }
        // The client has already joined the parts that were requested.
        if status == .partialContent {
            self = fail(.status, "the server sent a part of the cover, unasked (206)")
        } else if let header = response.body.withUnsafeBytes({ ImageHeader($0) }) {
            self = .cover(header)
        } else {
            let content = response.body.withUnsafeBytes { ImageHeader.describe($0) }
            let isQuota = ["JSON", "XML", "text"].contains(content) && Self.mentionsQuota(response.body)
            self =
                isQuota
                ? fail(.overQuota, "the server answered \(status.code), but with \(content) about too many requests")
                : fail(.notAnImage, "the server answered \(status.code), but with \(content), not an image")
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
