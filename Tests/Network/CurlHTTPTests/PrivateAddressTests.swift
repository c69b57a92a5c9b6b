import CCurl
import Foundation
import OriginServer
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(10))) struct PrivateAddressTests {
    private func isPrivate(_ text: String) throws -> Bool {
        if text.contains(":") {
            var address = in6_addr()
            try #require(inet_pton(AF_INET6, text, &address) == 1)
            return PrivateAddress.contains(v6: withUnsafeBytes(of: address) { Array($0) })
        }
        var address = in_addr()
        try #require(inet_pton(AF_INET, text, &address) == 1)
        return PrivateAddress.contains(v4: UInt32(bigEndian: address.s_addr))
    }

    @Test(arguments: [
        "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001::1", "2001:1ff::1",
        "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "100::1", "64:ff9b:1::1",
    ])
    func `addresses of this machine, its network, carriers, clouds and documents are private, however they are written`(
        text: String
    ) throws { #expect(try isPrivate(text)) }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
        "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1", "2002:101:101::", "2001:200::1",
    ])
    func `addresses of the open Internet are not`(text: String) throws { #expect(try !isPrivate(text)) }

    @Test func `a connection to a private address is refused before a packet is sent`() async throws {
        try await withOrigin {
            $0.deniesPrivateAddresses = true
        } _: { origin, client in
            for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0"] {
                let url = "http://\(host):\(origin.port)/covers/1.jpg"
                let error = await client.failure(url)
                #expect(error?.kind == .refusedAddress, "\(url): \(String(describing: error))")
            }
            #expect(origin.connectionCount == 0)
        }
    }

    @Test func `one request refuses what the client's others may reach, on a connection that is open`() async throws {
        try await withOrigin { origin, client in
            _ = try await client.get(origin.coverURL(1))
            for url in [origin.coverURL(2), "http://localhost:\(origin.port)/covers/2.jpg"] {
                var request = TransferRequest(url: try HTTPURL(url))
                request.deniesPrivateAddresses = true
                let error = await #expect(throws: TransferError.self) { try await client.response(for: request) }
                #expect(error?.kind == .refusedAddress, "\(url)")
            }
            _ = try await client.get(origin.coverURL(3))
            #expect(origin.requestCount == 2)
        }
    }

    @Test func `a name that resolves to a private address is refused, also on a connection that is open`() async throws
    {
        try await withOrigin { origin, _ in
            let transfer = Transfer(
                configuration: HTTPClientConfiguration(userAgent: "test"), sockets: OpenSockets(),
                memory: BodyMemory(limit: 1 << 20))
            // In place of a name server, which no test has.
            let addresses = curl_slist_append(nil, "covers.example:\(origin.port):127.0.0.1")
            defer { curl_slist_free_all(addresses) }
            sleeve_setopt_list(transfer.easy, CURLOPT_RESOLVE, addresses)
            func get(denying denies: Bool) async throws -> Result<TransferResponse, TransferError>? {
                var request = TransferRequest(url: try HTTPURL("http://covers.example:\(origin.port)/covers/1.jpg"))
                request.deniesPrivateAddresses = denies
                let (results, continuation) = AsyncStream.makeStream(of: Result<TransferResponse, TransferError>.self)
                transfer.prepare(request, id: 1) { continuation.yield($0) }
                let end = transfer.end(curl_easy_perform(transfer.easy))
                end.completion?(end.result)
                return await results.first { _ in true }
            }
            func expectRefusal() async throws {
                let result = try await get(denying: true)
                guard case .failure(let error) = result else {
                    Issue.record("it was answered")
                    return
                }
                #expect(error.kind == .refusedAddress)
            }
            try await expectRefusal()
            #expect(origin.connectionCount == 0)
            #expect(try await get(denying: false)?.get().body == CoverImage.jpeg(number: 1))
            try await expectRefusal()
            #expect(origin.connectionCount == 1 && origin.requestCount == 1)
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1/", true), ("http://10.1.2.3:8080/", true), ("http://[::1]/", true),
        ("http://[fe80::1]:1/", true),
        ("http://localhost/", true), ("http://a.LOCALHOST.:80/", true), ("http://1.1.1.1/", false),
        ("http://[2606:4700::1111]/", false), ("http://localhost.example/", false), ("http://10.example/", false),
    ])
    func `a URL says itself that its host is private, before a proxy resolves it`(url: String, isPrivate: Bool) throws {
        #expect(PrivateAddress.isNamed(by: try HTTPURL(url)) == isPrivate)
    }

    @Test func `only the text of a public address is one`() {
        for text in ["1.1.1.1", "2606:4700::1111"] { #expect(PrivateAddress.isPublic(text), "\(text)") }
        for text in ["127.0.0.1", "::ffff:10.0.0.1", "::1", "", "a.example", "1.1.1.1 "] {
            #expect(!PrivateAddress.isPublic(text), "\(text)")
        }
    }
}
