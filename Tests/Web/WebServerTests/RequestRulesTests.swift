import HTTPTypes
import Platform
import Testing

@testable import WebServer

@Suite struct RequestRulesTests {
    private let rules = RequestRules(hosts: AllowedHosts(listening: "127.0.0.1", names: ["covers.lan"]))

    private func head(
        _ target: String, _ headers: HTTPFields, isHTTP10: Bool = false, method: HTTPRequest.Method = .get
    ) -> Request {
        Request(method: method, target: target, headers: headers, isHTTP10: isHTTP10, client: ClientPresence())
    }

    private func applied(to head: Request) throws -> Request {
        try rules.applied(to: head, local: SocketAddress("127.0.0.1", port: 8_730))
    }

    @Test(arguments: [
        "http://127.0.0.1:8730/a?b", "HTTP://127.0.0.1:8730/a?b", "http://localhost:8730/a?b",
        "http://LOCALHOST:8730/a?b",
        "http://covers.lan/a?b", "https://covers.lan:8443/a?b",
    ])
    func `a target in absolute form replaces Host (RFC 9112 section 3.2.2)`(target: String) throws {
        let applied = try applied(to: head(target, [Request.host: "other.example"]))
        #expect(applied.target == "/a?b" && applied.authority == String(target.split(separator: "/")[1]))
    }

    @Test(arguments: [("http://covers.lan", "/"), ("http://covers.lan?a", "/?a")])
    func `an empty path is the root`(target: String, path: String) throws {
        #expect(try applied(to: head(target, [Request.host: "covers.lan"])).target == path)
    }

    @Test(arguments: [
        "http://10.1.2.3:8730/", "http://127.0.0.1/", "http://127.0.0.1:9/", "http://127.0.0.2:8730/",
        "https://127.0.0.1:8730/",
        "http://evil.example:8730/", "ftp://covers.lan/", "http://[::1]:8730/",
    ])
    func `the URL of another server is refused with 421 (RFC 9110 section 7.4)`(target: String) {
        #expect {
            try applied(to: head(target, [Request.host: "127.0.0.1:8730"]))
        } throws: { ($0 as? RequestRules.Refusal)?.status == .misdirectedRequest }
    }

    @Test(arguments: [
        "x", "@covers.lan/", ":80@covers.lan/", "http:/a", "http://a@covers.lan/", "http:///a", "://a/b",
        "http://covers.lan/#a",
    ])
    func `a target in no form is refused with 400 or 421`(target: String) {
        #expect(throws: RequestRules.Refusal.self) { try applied(to: head(target, [Request.host: "covers.lan"])) }
    }

    @Test(arguments: [
        "", " ", "a b", "a/b", "a@b", "a,b:c", "a:99999", "a:b", ":80", "[::1", "[::1]x", "a]", "a?b", "a\\b",
        "caf\u{e9}",
    ])
    func `a Host that is no host is refused with 400 (RFC 9112 section 3.2)`(host: String) {
        #expect {
            try applied(to: head("/", [Request.host: host]))
        } throws: { ($0 as? RequestRules.Refusal)?.status == .badRequest }
    }

    @Test(arguments: ["covers.lan", "covers.lan:", "10.0.0.1:80", "[::1]", "[::1]:8730", "xn--caf-dma.example", "a_b"])
    func `a Host that is a host is left to the list of allowed ones`(host: String) throws {
        #expect(try applied(to: head("/", [Request.host: host])).authority == host)
    }

    @Test func `HTTP/1.0 needs no Host: its requests are for the address that they came to`() throws {
        let applied = try applied(to: head("/", [:], isHTTP10: true))
        #expect(applied.authority == "127.0.0.1:8730")
        #expect(throws: RequestRules.Refusal.self) { try self.applied(to: head("/", [:])) }
    }

    @Test(
        arguments: [
            (["chunked"], false, false, nil), (["Chunked"], false, false, nil),
            (["chunked"], true, false, .badRequest), (["chunked"], false, true, .badRequest),
            (["gzip, chunked"], false, false, .notImplemented), (["gzip"], false, false, .notImplemented),
            (["identity"], false, false, .notImplemented), (["chunked, chunked"], false, false, .notImplemented),
            (["chunked", "chunked"], false, false, .notImplemented),
            (["gzip", "chunked"], false, false, .notImplemented),
            ([""], false, false, .notImplemented), (["chunked;a"], false, false, .notImplemented),
        ] as [([String], Bool, Bool, HTTPResponse.Status?)])
    func `chunked is the only transfer coding, and excludes a length (RFC 9112 sections 6.1 and 6.3)`(
        codings: [String], hasLength: Bool, isHTTP10: Bool, status: HTTPResponse.Status?
    ) {
        var headers: HTTPFields = [Request.host: "covers.lan"]
        for coding in codings { headers.append(HTTPField(name: .transferEncoding, value: coding)) }
        if hasLength { headers[.contentLength] = "1" }
        let head = head("/", headers, isHTTP10: isHTTP10, method: .post)
        var refused: HTTPResponse.Status?
        do { _ = try applied(to: head) } catch { refused = (error as? RequestRules.Refusal)?.status }
        #expect(refused == status)
    }
}
