import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// Fields that browsers send to a mirror because a gallery or another site's page is open.
@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    @Test(
        arguments: [
            ("a=1; sleeve-token=abc; sleeve-client=f; b=2", "a=1; b=2"), ("sleeve-token=abc", nil),
            ("sleeve-new=1;a=2", "a=2"),
            ("a=sleeve-token=1", "a=sleeve-token=1"), ("my-sleeve-token=1", "my-sleeve-token=1"), ("", nil),
        ] as [(String, String?)])
    func `the gallery's cookies are removed from requests, others stay`(cookies: String, kept: String?) {
        let fields: HTTPFields = [.cookie: cookies, .accept: "*/*"]
        #expect(fields.withoutGalleryCredentials[.cookie] == kept && fields.withoutGalleryCredentials[.accept] == "*/*")
    }

    @Test func `the gallery's token is no bearer for the mirrored server, which has other tokens`() {
        var fields: HTTPFields = [.cookie: "sleeve-token=abc", .authorization: "Bearer abc"]
        #expect(fields.withoutGalleryCredentials.isEmpty)
        fields[.authorization] = "Bearer other"
        #expect(fields.withoutGalleryCredentials == [.authorization: "Bearer other"])
    }

    @Test func `the mirrored server neither gets nor sets the gallery's cookies`() async throws {
        let answer = """
            HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: sleeve-token=x; Path=/\r\nContent-Length: 2\r
            Connection: close\r\n\r\nhi
            """
        try await withListener(answer: answer) { listener in
            try await withMirror(of: listener.url) { stage in
                var sent = listener.requests.makeAsyncIterator()
                let cookies = ["Cookie": "sleeve-client=1; b=2; sleeve-token=secret"]
                for method in ["GET", "HEAD", "POST"] {
                    let reply = try await stage.send(method, "/a", cookies)
                    #expect(reply.head.contains("a=1") && !reply.head.contains("sleeve-token"))
                    let head = await sent.next() ?? ""
                    #expect(
                        head.contains("ookie: b=2\r\n") && !head.contains("sleeve-token")
                            && !head.contains("sleeve-client"), "\(head)")
                }
            }
        }
    }

    @Test func `a tier gets neither what a client got with credentials nor what a server sets for one client`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.path() + "sleeve-tier-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withScriptedServer { request in
            httpResponse(
                "200 OK", ["Set-Cookie: a=1", "Content-Type: image/jpeg", "ETag: \"1\"", "Cache-Control: max-age=60"],
                CoverImage.jpeg(number: request.target == "/1" ? 1 : 2))
        } _: { server in
            try await withMirror(of: server.url, { $0.tier = folder }) { stage in
                #expect(try await stage.get("/1", ["Authorization": "Bearer a"]).status == 200)
                #expect(try await stage.get("/2").head.contains("a=1"))
                try await eventually { stage.library.tierStatistics?.stored == 1 }
                let pushed = try await stage.library.push()
                #expect(pushed.unsuitable == 1 && pushed.kept == 1 && pushed.put == 0)
            }
            let asked = server.requests.count
            try await withMirror(of: server.url, { $0.tier = folder }) { stage in
                let reply = try await stage.get("/2")
                #expect(reply.status == 200 && reply.fields["etag"] == "\"1\"" && !reply.head.contains("a=1"))
                #expect(server.requests.count == asked)
            }
        }
    }

    @Test(arguments: [
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "http://evil.example"],
        ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
        ["Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"],
    ])
    func `a page of another site changes nothing at the mirrored server`(fields: [String: String]) async throws {
        try await withMirror { stage in
            for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"] {
                let reply = try await stage.send(method, "/covers/1.jpg", fields, body: "a=1")
                #expect(reply.status == 403, "\(method)")
            }
            #expect(stage.origin.requestCount == 0)
            #expect(try await stage.send("GET", "/covers/1.jpg", fields).status == 200, "reading changes nothing")
        }
    }

    @Test func `a page of the mirrored site itself may send forms`() async throws {
        try await withMirror { stage in
            let own = ["Origin": "http://127.0.0.1:\(stage.port)", "Sec-Fetch-Site": "same-origin"]
            let requests: [[String: String]] = [own, ["Sec-Fetch-Site": "none"], [:]]
            for fields in requests {
                let reply = try await stage.send("POST", "/covers/1.jpg", fields, body: "a=1")
                #expect(reply.status == 405)
            }
        }
    }
}
