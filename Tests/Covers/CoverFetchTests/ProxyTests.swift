import Testing

@testable import CoverFetch

@Suite struct ProxyTests {
    private func parse(_ url: String, _ environment: [String: String]) -> Proxy? {
        Proxy(for: url) { environment[$0] }
    }

    @Test func `the variable is libcurl's: that of the scheme, then all_proxy`() {
        let all = ["http_proxy": "p:1", "HTTPS_PROXY": "q:2", "all_proxy": "r:3", "HTTP_PROXY": "s:4"]
        #expect(parse("http://a/", all)?.variable == "http_proxy")
        #expect(parse("https://a/", all)?.variable == "HTTPS_PROXY")
        #expect(parse("http://a/", ["HTTP_PROXY": "s:4", "ALL_PROXY": "t"])?.variable == "ALL_PROXY")
        #expect(parse("http://a/", ["HTTP_PROXY": "s:4", "https_proxy": "t", "http_proxy": ""]) == nil)
    }

    @Test func `no_proxy excepts names with what is in their domains, addresses and prefixes`() {
        let list = ".example.com, Host.test.,10.1.0.0/16 ::1 fd00::/8,192.0.2.7"
        let excepted = [
            "example.com", "a.example.com:81", "host.test", "host.test.", "10.1.255.1", "[::1]:8080", "[fd12::1]",
            "192.0.2.7",
        ]
        let others = ["xexample.com", "com", "other.test", "10.2.0.1", "[::2]", "[fe80::1]", "192.0.2.70"]
        for (hosts, isExcepted) in [(excepted, true), (others, false)] {
            for host in hosts {
                for name in ["no_proxy", "NO_PROXY"] {
                    let proxy = parse("http://\(host)/1.png", ["http_proxy": "p:1", name: list])
                    #expect((proxy == nil) == isExcepted, "\(host)")
                }
            }
        }
        #expect(parse("https://a.test/", ["all_proxy": "socks5h://p:1", "no_proxy": "*"]) == nil)
        #expect(parse("https://a.test/", ["all_proxy": "socks5h://p:1", "no_proxy": ""])?.isSOCKS == true)
        #expect(parse("http://a.test/", ["http_proxy": "p:1", "no_proxy": "", "NO_PROXY": "a.test"]) == nil)
    }

    @Test func `host and port are parsed, without credentials`() {
        let addresses: [(String, String, Int?)] = [
            ("http://user:p@ss@p.example:3128/", "p.example", 3128), ("p.example:8080", "p.example", 8080),
            ("socks5h://u:x@[::1]:9", "::1", 9), ("https://p.example", "p.example", nil), ("[::1]", "::1", nil),
        ]
        for (value, host, port) in addresses {
            let proxy = parse("http://a/", ["http_proxy": value])
            #expect(proxy?.host == host && proxy?.port == port, "\(value)")
        }
    }

    @Test func `only failures of the proxy name the proxy`() throws {
        let proxy = try #require(parse("http://a/", ["http_proxy": "http://u:pw@10.0.0.1:3128"]))
        let name = "the proxy 10.0.0.1:3128, which http_proxy names"
        #expect(
            proxy.attributing("Could not resolve proxy: p.example")
                == "can't find \(name); correct or unset http_proxy")
        #expect(
            proxy.attributing("Failed to connect to 10.0.0.1 port 3128 after 2 ms: Couldn't connect to server")
                == "can't reach \(name): couldn't connect to server; start it, or unset http_proxy")
        for detail in ["CONNECT tunnel failed, response 407", "Received HTTP code 407 from proxy after CONNECT"] {
            let reason = detail.prefix(1).lowercased() + detail.dropFirst()
            #expect(proxy.attributing(detail) == "\(name), refused the connection: \(reason)")
        }
        let others = ["Could not resolve host: a", "Failed to connect to 10.0.0.1 port 80 after 2 ms", "Empty reply"]
        for detail in others { #expect(proxy.attributing(detail) == detail) }
    }
}
