import Testing

@testable import CoverLibrary

@Suite struct ProxyTests {
    private func found(_ url: String, _ environment: [String: String]) -> Proxy? {
        Proxy(for: url) { environment[$0] }
    }

    @Test("the variable is the one that libcurl takes: that of the scheme, then that for all")
    func variables() {
        let all = ["http_proxy": "p:1", "HTTPS_PROXY": "q:2", "all_proxy": "r:3", "HTTP_PROXY": "s:4"]
        #expect(found("http://a/", all)?.variable == "http_proxy")
        #expect(found("https://a/", all)?.variable == "HTTPS_PROXY")
        #expect(found("http://a/", ["HTTP_PROXY": "s:4", "ALL_PROXY": "t"])?.variable == "ALL_PROXY")
        #expect(found("http://a/", ["HTTP_PROXY": "s:4", "https_proxy": "t", "http_proxy": ""]) == nil)
    }

    @Test("host and port are told, and nothing else of it")
    func places() {
        let places: [(String, String, Int?)] = [
            ("http://user:p@ss@p.example:3128/", "p.example", 3128), ("p.example:8080", "p.example", 8080),
            ("socks5h://u:x@[::1]:9", "::1", 9), ("https://p.example", "p.example", nil), ("[::1]", "::1", nil),
        ]
        for (value, host, port) in places {
            let proxy = found("http://a/", ["http_proxy": value])
            #expect(proxy?.host == host && proxy?.port == port, "\(value)")
        }
    }

    @Test("a failure is the proxy's only where it was the proxy that failed")
    func failures() throws {
        let proxy = try #require(found("http://a/", ["http_proxy": "http://u:pw@10.0.0.1:3128"]))
        let own = [
            "Could not resolve proxy: p.example", "Failed to connect to 10.0.0.1 port 3128 after 2 ms",
            "CONNECT tunnel failed, response 407", "Received HTTP code 407 from proxy after CONNECT",
        ]
        for detail in own {
            #expect(proxy.told(detail) == "the proxy that http_proxy names failed: \(detail)")
        }
        let others = ["Could not resolve host: a", "Failed to connect to 10.0.0.1 port 80 after 2 ms", "Empty reply"]
        for detail in others { #expect(proxy.told(detail) == detail) }
    }
}
