import ServerChannels
import Testing

@Suite struct ListeningServerTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("localhost", true), ("127.example.org", false),
        ("0.0.0.0", false), ("::", false), ("10.0.0.1", false), ("nas.local", false),
    ])
    func `only this machine can connect to its loopback addresses`(host: String, isLoopback: Bool) {
        #expect(ListeningServer.isLoopback(host) == isLoopback)
    }
}
