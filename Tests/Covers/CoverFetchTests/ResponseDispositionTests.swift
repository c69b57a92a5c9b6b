import HTTPTypes
import ImageHeader
import OriginServer
import Platform
import Testing

@testable import CoverFetch
@testable import CurlHTTP

@Suite struct ResponseDispositionTests {
    private static let url = "http://a.example/1.jpg"

    private static let stored = StoredVersion(
        conditions: [.ifNoneMatch: "\"a\""], digest: Digest(of: []), validatedAt: 0)

    private func disposition(
        _ status: Int, _ body: [UInt8] = [], url: String = Self.url, type: String = "image/jpeg",
        location: String? = nil, redirectedTo target: String? = nil, revalidated: StoredVersion? = nil,
        isEndMarked: Bool = true
    ) throws -> ResponseDisposition {
        var response = TransferResponse(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: type]),
            body: body, location: location, isHTTP2: false, microseconds: 1)
        response.isEndMarked = isEndMarked
        let url = try HTTPURL(url)
        return ResponseDisposition(
            response, of: url, at: try target.map { try HTTPURL($0) } ?? url, redirectCount: target == nil ? 0 : 1,
            revalidated: revalidated)
    }

    @Test func `RFC 9110 §15.3.7: a 206 to a request without a range is a failure`() throws {
        let failure = try disposition(206, CoverImage.jpeg(number: 1)).failure
        #expect(failure?.status == 206 && failure?.detail.contains("a part of the cover, unasked") == true)
    }

    @Test func `a 304 confirms the version whose validators were sent, and is a failure without one`() throws {
        let stored = Self.stored
        guard case .notModified(let confirmed) = try disposition(304, revalidated: stored) else {
            Issue.record("the stored version is not confirmed")
            return
        }
        #expect(confirmed === stored)
        #expect(try disposition(304).failure?.status == 304)
    }

    @Test func `a redirect leads to its target, and a refused one is a failure`() throws {
        guard case .redirect(let target) = try disposition(302, location: "http://b.example/2.jpg") else {
            Issue.record("the redirect is not followed")
            return
        }
        #expect(target.string == "http://b.example/2.jpg")
        #expect(try disposition(302, location: "file:///etc/passwd").failure?.kind == .refusedAddress)
    }

    @Test(arguments: [0, 3, 11]) func `RFC 9112 §8: a body that ends before its type can be recognised is broken off`(
        count: Int
    ) throws {
        let start = Array(CoverImage.png(number: 1).prefix(count))
        let failure = try disposition(200, start, isEndMarked: false).failure
        #expect(failure?.kind == .truncated && failure?.isTransient == true)
        let whole = try disposition(200, start).failure
        #expect(whole?.isTransient != true)
        let page = try disposition(200, Array("<html>no such cover</html>".utf8), isEndMarked: false).failure
        #expect(page?.kind == .notAnImage)
    }

    @Test(arguments: ["image/jpeg", "text/html", ""])
    func `an image is a cover, whatever its media type says`(type: String) throws {
        guard case .cover(let header) = try disposition(200, CoverImage.png(number: 1), type: type) else {
            Issue.record("no cover")
            return
        }
        #expect(header.mediaType == "image/png")
        #expect((header.width ?? 0) > 0 && (header.height ?? 0) > 0)
    }

    @Test(
        arguments: [(200, true), (203, true)]
            + [201, 202, 204, 205, 206, 207, 208, 218, 226, 299, 404, 500, 503].map { ($0, false) })
    func `a picture is the cover only if the status says so`(status: Int, isCover: Bool) throws {
        let disposition = try disposition(status, CoverImage.png(number: 1))
        if case .cover = disposition { return #expect(isCover) }
        let failure = try #require(disposition.failure)
        #expect(!isCover && failure.status == status && failure.kind == .status && failure.url == Self.url)
        #expect(failure.message.contains("\(status)"))
    }

    @Test func `an image that is cut off is no cover if nothing marks the end of its body`() throws {
        let image = CoverImage.jpeg(number: 1)
        for (body, isCover) in [(image, true), (Array(image.dropLast(100)), false)] {
            var response = TransferResponse(head: HTTPResponse(status: .ok), body: body)
            response.isEndMarked = false
            let url = try HTTPURL(Self.url)
            let disposition = ResponseDisposition(
                response, of: url, at: url, redirectCount: 0, revalidated: nil)
            #expect((disposition.failure == nil) == isCover)
            #expect(isCover || disposition.failure?.kind == .truncated)
        }
    }

    @Test(
        arguments: [
            ("<!DOCTYPE html><title>Welcome</title>", .notAnImage, "HTML"), ("{\"error\": 1}", .notAnImage, "JSON"),
            ("", .notAnImage, "empty"), ("hello", .notAnImage, "text"),
            ("{\"error\": \"Rate-limit exceeded\"}", .overQuota, "too many requests"),
            // Pages and scripts with a word about limits.
            (
                "<!DOCTYPE html><script>function throttle(){}; let requestLimit = 5</script>Not found", .notAnImage,
                "HTML"
            ),
            ("<html><body>429 Too many requests</body></html>", .notAnImage, "HTML"),
            ("function throttled() {}" + String(repeating: " ", count: 3_000), .notAnImage, "text"),
            ("The throttle is closed.", .notAnImage, "text"),
        ] as [(String, CoverFailure.Kind, String)])
    func `a 200 without an image names its content, and one about a quota is a transient failure`(
        text: String, kind: CoverFailure.Kind, word: String
    ) throws {
        let failure = try #require(try disposition(200, Array(text.utf8)).failure)
        #expect(failure.kind == kind && failure.detail.contains(word), "\(failure.detail)")
        #expect(failure.isTransient == (kind == .overQuota))
    }

    @Test(arguments: [404, 200])
    func `a failure names the redirect's target`(status: Int) throws {
        let failure = try disposition(status, redirectedTo: "http://portal.example/").failure
        #expect(failure?.detail.contains("http://portal.example/") == true)
    }

    @Test func `a failure's message holds no credential of its URL or its redirect's target`() throws {
        let url = "https://a.example/1?token=hush"
        let failure = try #require(
            disposition(403, url: url, redirectedTo: "https://b.example/2?Signature=hush").failure)
        #expect(!failure.message.contains("hush") && failure.message.contains("https://a.example/1?token=[hidden]"))
        #expect(!failure.detail.contains("hush") && !"\(failure)".contains("hush"))
        #expect(failure.url == url, "programs find their own URL")
    }
}
