import HTTPTypes
import ImageHeader
import OriginServer
import Testing

@testable import CoverLibrary
@testable import CurlHTTP

@Suite struct VerdictTests {
    private func verdict(
        _ status: Int, _ body: [UInt8], type: String = "image/jpeg", redirectedTo: String? = nil
    ) -> Verdict {
        let response = TransferResponse(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]),
            body: ResponseBody(body),
            redirectedTo: redirectedTo, isHTTP2: false, microseconds: 1, microsecondsToFirstByte: 1)
        return Verdict(response, for: "http://a.example/1.jpg")
    }

    @Test("a part that nobody asked for is no cover (RFC 9110 §15.3.7)")
    func part() {
        let failure = failure(verdict(206, [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1]))
        #expect(failure?.status == 206 && failure?.detail.contains("a part of the cover, unasked") == true)
    }

    private func failure(_ verdict: Verdict) -> CoverFailure? {
        if case .failure(let failure) = verdict { failure } else { nil }
    }

    @Test("an image is a cover, whatever type the server claims", arguments: ["image/jpeg", "text/html", ""])
    func cover(type: String) {
        guard case .cover(let header) = verdict(200, CoverImage.png(number: 1), type: type) else {
            Issue.record("no cover")
            return
        }
        #expect(header.mediaType == "image/png")
        #expect((header.width ?? 0) > 0 && (header.height ?? 0) > 0)
    }

    @Test("a status other than 2xx is a failure with its number, even with an image", arguments: [304, 404, 503])
    func status(status: Int) {
        let failure = failure(verdict(status, CoverImage.png(number: 1)))
        #expect(failure?.kind == .status && failure?.status == status)
        #expect(failure?.url == "http://a.example/1.jpg")
        #expect(failure?.message.contains("\(status)") == true)
    }

    @Test(
        "a 200 that is no image says what it is",
        arguments: [
            ("<!DOCTYPE html><title>Welcome</title>", "HTML"), ("{\"error\": 1}", "JSON"), ("", "empty"),
            ("hello", "text"),
        ])
    func notAnImage(text: String, word: String) {
        let failure = failure(verdict(200, Array(text.utf8)))
        #expect(failure?.kind == .notAnImage)
        #expect(failure?.detail.contains(word) == true)
    }

    @Test("where a redirect led is told, for a status as for a page")
    func redirected() {
        for status in [404, 200] {
            let verdict = verdict(status, [], redirectedTo: "http://portal.example/")
            #expect(failure(verdict)?.detail.contains("http://portal.example/") == true)
        }
    }
}
