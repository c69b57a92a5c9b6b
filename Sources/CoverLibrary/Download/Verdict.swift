import CurlHTTP
import HTTPTypes
import ImageHeader

/// What a response is worth.
enum Verdict {
    case cover(ImageHeader)
    case failure(CoverFailure)

    /// A cover is 2xx, complete (the client has seen to that), and an image by its leading bytes, whatever its type claims.
    init(_ response: TransferResponse, for url: String) {
        let status = response.head.status
        let led = response.redirectedTo.map { " (redirected to \($0))" } ?? ""
        guard status.kind == .successful else {
            let reason = status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)"
            var detail = "the server answered \(status.code)\(reason)\(led)"
            if status.code == 407, let proxy = Proxy(for: response.redirectedTo ?? url) {
                detail = "\(proxy.refusal) (407)\(led)"
            }
            self = .failure(CoverFailure(.status, url: url, detail: detail, status: status.code))
            return
        }
        if status == .partialContent {
            // Parts that were asked for have been put together by now.
            self = .failure(
                CoverFailure(
                    .status, url: url, detail: "the server sent a part of the cover, unasked (206)\(led)", status: 206))
            return
        }
        if let header = ImageHeader(response.body.bytes) {
            self = .cover(header)
        } else {
            let what = ImageHeader.describe(response.body.bytes)
            let isQuota = what != "unknown data" && Self.complainsOfQuota(response.body.bytes)
            let detail =
                isQuota
                ? "the server answered \(status.code), but with \(what) that says too much was asked for\(led)"
                : "the server answered \(status.code), but with \(what), not an image\(led)"
            self = .failure(
                CoverFailure(isQuota ? .overQuota : .notAnImage, url: url, detail: detail, status: status.code))
        }
    }

    /// Whether a text speaks of too many requests, as some APIs do with a 200: in its first 2 KiB, whatever its format.
    private static func complainsOfQuota(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text = String(decoding: bytes.prefix(2_048), as: UTF8.self).lowercased().filter {
            $0 != "_" && $0 != "-" && $0 != " "
        }
        return ["ratelimit", "toomanyrequests", "quotaexceed", "exceededquota", "overquota", "throttl", "requestlimit"]
            .contains { text.contains($0) }
    }
}
