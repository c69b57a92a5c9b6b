import WebServer
import Testing

@Suite struct AllowedHostsTests {
    private let hosts = AllowedHosts(listening: "nas.local", names: ["Music.Example"])

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8730", "192.168.1.7:", "localhost", "LOCALHOST:80", "[::1]", "[::1]:8730",
        "[::ffff:127.0.0.1]:80", "nas.local:8730", "NAS.local", "music.example", "MUSIC.EXAMPLE:443",
    ])
    func `IP addresses, localhost, the listening host and given names are allowed, with or without a port`(
        authority: String
    ) {
        #expect(hosts.contains(authority))
    }

    @Test(arguments: [
        "", ":80", "evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "localhost.",
        "evil.localhost",
        "1.2.3.4.5", "1.2.3", "127.1", "0x7f.0.0.1", "256.0.0.1", "::1", "[evil]", "[::1", "[]", "[...]",
        "[::1]evil",
        "[127.0.0.1]", "[::1]:80:80", "localhost:evil", "localhost:80:80", "localhost:+80", "localhost:٣",
        "user@localhost",
    ])
    func `names that a foreign name server can resolve, and malformed authorities, are refused`(authority: String) {
        #expect(!hosts.contains(authority))
    }

    @Test func `an empty name allows nothing`() {
        #expect(!AllowedHosts(listening: "127.0.0.1", names: [""]).contains(""))
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("localhost", true), ("127.example.org", false),
        ("0.0.0.0", false), ("::", false), ("10.0.0.1", false), ("nas.local", false),
    ])
    func `only this machine can connect to its loopback addresses`(host: String, isLoopback: Bool) {
        #expect(AllowedHosts.isLoopback(host) == isLoopback)
    }
}
