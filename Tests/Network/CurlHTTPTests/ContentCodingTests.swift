import Testing
import Wire

@testable import CurlHTTP

/// Codings that were not asked for (RFC 9110 section 8.4.1).
@Suite(.timeLimit(.minutes(5))) struct ContentCodingTests {
    private func response(
        _ coding: String, _ body: [UInt8], limit: Int = 100_000
    ) async throws -> Result<TransferResponse, TransferError> {
        var result: Result<TransferResponse, TransferError>?
        let answer = httpResponse("200 OK", ["Content-Encoding: \(coding)"], body)
        try await withScriptedServer { _ in
            answer
        } _: { server in
            try await withClient {
                $0.maximumBodySize = limit
            } _: { client in
                let url = try HTTPURL(server.url + "/")
                do throws(TransferError) {
                    result = .success(
                        try await client.response(for: TransferRequest(url: url)))
                } catch {
                    result = .failure(error)
                }
            }
        }
        return try #require(result)
    }

    @Test(arguments: [
        ("gzip", "gzip"), ("x-gzip", "gzip"), ("GZIP", "gzip"), ("deflate", "zlib"), ("deflate", "raw"),
        ("gzip, gzip", "twice"), ("identity", "plain"), ("identity, gzip", "gzip"),
    ])
    func `what is compressed is decoded`(coding: String, form: String) async throws {
        let body = try #require(Coded.forms[form])
        #expect(try await response(coding, body).get().body == Coded.plain)
    }

    @Test(arguments: ["unknown", "gzip, unknown", "compress"])
    func `an unknown coding is a failure that names it`(coding: String) async throws {
        let error = await #expect(throws: TransferError.self) { try await response(coding, Coded.plain).get() }
        #expect(error?.kind == .coding && error?.detail.contains(coding) == true, "\(error as Any)")
    }

    @Test func `what is not what its coding says is a failure`() async throws {
        let error = await #expect(throws: TransferError.self) { try await response("gzip", Coded.plain).get() }
        #expect(error?.kind == .coding)
    }

    @Test(arguments: ["gzip", "zlib", "raw"])
    func `what is compressed and cut off before it is sent has no marked end`(form: String) async throws {
        let body = try #require(Coded.forms[form])
        for count in [body.count, body.count / 2] {
            let answer = try await response(form == "gzip" ? "gzip" : "deflate", Array(body.prefix(count))).get()
            #expect(!answer.isEndMarked && answer.body.count <= Coded.plain.count)
        }
    }

    @Test(arguments: ["gzip", "zlib"])
    func `bytes behind the end of what is compressed are left out`(form: String) async throws {
        let coding = form == "gzip" ? "gzip" : "deflate"
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
        // libcurl decodes each chunk by itself.
        let chunks: [[UInt8]] = [try #require(Coded.forms[form]), [0], Array("more".utf8)]
        let body = chunks.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
        try await withScriptedServer { _ in
            Array(head.utf8) + body + Array("0\r\n\r\n".utf8)
        } _: { server in
            try await withClient { client in
                let response = try await client.response(for: TransferRequest(url: HTTPURL(server.url + "/")))
                #expect(response.body == Coded.plain)
            }
        }
    }

    @Test(arguments: ["gzip", "zlib", "raw", "twice"])
    func `a body that is larger than the limit once it is decoded is too large`(form: String) async throws {
        let coding = ["gzip": "gzip", "twice": "gzip, gzip"][form] ?? "deflate"
        let error = await #expect(throws: TransferError.self) {
            try await response(coding, #require(Coded.forms[form]), limit: 4_000).get()
        }
        #expect(error?.kind == .tooLarge)
    }
}
