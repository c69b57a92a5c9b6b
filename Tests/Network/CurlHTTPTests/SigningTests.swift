import CCurl
import Foundation
import HTTPTypes
import Platform
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(10))) struct SigningTests {
    private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    private static let signing = RequestSigning(
        keyID: "AKIAIOSFODNN7EXAMPLE", secret: secret, region: "eu-central-1", service: "s3")
    private static let verifier = SignatureVerifier(secret: secret, scope: "eu-central-1/s3")

    @Test func `a server accepts signed requests, with bodies, session tokens and metadata of any length`() async throws
    {
        try await withScriptedServer { _ in
            httpResponse("200 OK")
        } _: { server in
            try await withClient {
                $0.signing = Self.signing
            } _: { client in
                for number in 0..<100 {
                    let isPut = number.isMultiple(of: 2)
                    let body = isPut ? [UInt8](repeating: UInt8(number), count: number * 700) : []
                    let digest = Digest(of: body)
                    var fields: HTTPFields = [.contentHash: digest.description]
                    if number % 4 < 2 { fields[.sessionToken] = String(repeating: "t/+=", count: number + 1) }
                    if isPut {
                        fields[.contentType] = "image/jpeg"
                        fields[.checksum] = digest.withUnsafeBytes { Data($0).base64EncodedString() }
                        fields[.metadata] = "1 A" + String(repeating: "A", count: number * 20)
                    }
                    let url = try HTTPURL("\(server.url)/bucket/a.b-c_d~e/v1/ab/\(Digest(of: [UInt8(number)]))")
                    let response = try await client.response(
                        for: TransferRequest(
                            url: url, headerFields: fields,
                            call: .init(method: isPut ? .put : .get, body: isPut ? body : nil)))
                    #expect(response.head.status == .ok)
                }
            }
            let problems = server.requests.compactMap { Self.verifier.problem(of: $0) }
            #expect(problems.isEmpty && server.requests.count == 100, "\(problems)")
        }
    }

    @Test func `the verifier agrees with the example that Amazon has published`() async throws {
        let verifier = SignatureVerifier(secret: Self.secret, scope: "us-east-1/s3")
        let head = """
            GET /test.txt HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\nRange: bytes=0-9\r\nx-amz-date: 20130524T000000Z\r
            x-amz-content-sha256: \(Digest(of: []))\r\nAuthorization: AWS4-HMAC-SHA256 \
            Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
            SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
            Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\r\n\r\n
            """
        try await withScriptedServer { _ in
            httpResponse("200 OK")
        } _: { server in
            let client = try Wire(port: server.port)
            for text in [head, head.replacing("/test.txt", with: "/test.png")] {
                try client.send(text)
                _ = try client.reply()
            }
            let problems = server.requests.map { verifier.problem(of: $0) }
            #expect(problems == [nil, "the signature does not match"])
        }
    }

    /// Why a signing client suppresses no field.
    @Test(.enabled(if: curl_version_info(CURLVERSION_FIRST).pointee.version_num < 0x08_0300))
    func `libcurl before 8.3 signs a line without a value, and does not send it`() async throws {
        try await withScriptedServer { _ in
            httpResponse("200 OK")
        } _: { server in
            for line in ["Expect:", "Accept:", "User-Agent:", nil] {
                let url = server.url
                try await onThread {
                    HTTPClient.initialize()
                    let easy = try #require(curl_easy_init())
                    var list = curl_slist_append(nil, "x-amz-content-sha256: \(Digest(of: []))")
                    if let line { list = curl_slist_append(list, line) }
                    defer {
                        curl_easy_cleanup(easy)
                        curl_slist_free_all(list)
                    }
                    sleeve_setopt_string(easy, CURLOPT_URL, url + "/a")
                    sleeve_setopt_string(easy, CURLOPT_AWS_SIGV4, "aws:amz:eu-central-1:s3")
                    sleeve_setopt_string(easy, CURLOPT_USERNAME, "AKIAIOSFODNN7EXAMPLE")
                    sleeve_setopt_string(easy, CURLOPT_PASSWORD, Self.secret)
                    sleeve_setopt_list(easy, CURLOPT_HTTPHEADER, list)
                    #expect(curl_easy_perform(easy) == CURLE_OK)
                }
            }
            let problems = server.requests.map { Self.verifier.problem(of: $0) }
            let names = ["expect", "accept", "user-agent"]
            #expect(problems == names.map { "it signs \($0), which it does not have" } + [nil])
        }
    }

    @Test func `the secret is in no description, no request and no error`() async throws {
        var configuration = HTTPClientConfiguration(userAgent: "Sleeve/test")
        configuration.signing = Self.signing
        var texts = ["\(configuration)", String(reflecting: configuration), "\(Self.signing)"]
        dump(configuration, to: &texts[0])
        try await withScriptedServer {
            $0.target == "/a" ? httpResponse("401 Unauthorized") : nil
        } _: { server in
            try await withClient {
                $0.signing = Self.signing
            } _: { client in
                texts.append("\(try await client.get(server.url + "/a"))")
                texts.append("\(try #require(await client.failure(server.url + "/b")))")
                let port = try closedPort()
                texts.append("\(try #require(await client.failure("http://127.0.0.1:\(port)/")))")
            }
            texts += server.requests.map(\.head)
        }
        #expect(texts.count >= 8 && !texts.contains { $0.contains(Self.secret) || $0.contains("Basic ") })
        #expect(texts[0].contains("eu-central-1:s3"))
    }
}

extension HTTPField.Name {
    fileprivate static let contentHash = Self("x-amz-content-sha256")!
    fileprivate static let checksum = Self("x-amz-checksum-sha256")!
    fileprivate static let sessionToken = Self("x-amz-security-token")!
    fileprivate static let metadata = Self("x-amz-meta-sleeve")!
}
