import CurlHTTP
import HTTPTypes

/// What a response is worth.
enum Verdict {
    case cover(ImageHeader)
    case failure(CoverFailure)

    /// A cover is 2xx, complete (libcurl has seen to that), and an image by its leading bytes, whatever its type claims.
    init(_ response: TransferResponse, for url: String) {
        let status = response.head.status
        let led = response.redirectedTo.map { " (redirected to \($0))" } ?? ""
        guard status.kind == .successful else {
            let reason = status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)"
            self = .failure(
                CoverFailure(
                    .status, url: url, detail: "the server answered \(status.code)\(reason)\(led)", status: status.code)
            )
            return
        }
        if let header = ImageHeader(response.body.bytes) {
            self = .cover(header)
        } else {
            let what = ImageHeader.describe(response.body.bytes)
            self = .failure(
                CoverFailure(
                    .notAnImage, url: url,
                    detail: "the server answered \(status.code), but with \(what), not an image\(led)",
                    status: status.code))
        }
    }
}
