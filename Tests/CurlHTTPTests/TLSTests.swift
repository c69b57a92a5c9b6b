import HTTPTypes
import Testing

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(10))) struct TLSTests {
    @Test(.enabled(if: TLSServers.hasOpenSSL))
    func `a server with a private authority is trusted with its file, and not without`() async throws {
        try await TLSServers.withOpenSSL { server in
            try await withClient {
                $0.certificateAuthorities = server.certificate
            } _: { client in
                let response = try await client.get(server.url + "/")
                #expect(response.head.status == .ok)
                #expect(!response.isHTTP2)
            }
            try await withClient { client in
                let error = await client.failure(server.url + "/")
                #expect(error?.kind == .tls)
            }
        }
    }

    @Test(.enabled(if: TLSServers.hasOpenSSL))
    func `an authorities' file that is not there is a failure of TLS`() async throws {
        try await TLSServers.withOpenSSL { server in
            try await withClient {
                $0.certificateAuthorities = server.certificate + ".none"
            } _: { client in
                let error = await client.failure(server.url + "/")
                #expect(error?.kind == .tls)
            }
        }
    }

    @Test(.enabled(if: TLSServers.hasNginx))
    func `a redirect from https to http is refused unless it is allowed`() async throws {
        try await TLSServers.withNginx { server in
            for isAllowed in [false, true] {
                try await withClient {
                    $0.certificateAuthorities = server.certificate
                    $0.allowsDowngrades = isAllowed
                } _: { client in
                    let error = await client.failure(server.url + "/down")
                    // Nobody listens where it leads.
                    #expect(error?.kind == (isAllowed ? .connect : .refusedAddress), "\(String(describing: error))")
                }
            }
        }
    }

    @Test(.enabled(if: TLSServers.hasNginx))
    func `over HTTP/2 many requests that wait for it share one connection`() async throws {
        try await TLSServers.withNginx { server in
            try await withClient {
                $0.certificateAuthorities = server.certificate
            } _: { client in
                let connections = try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 1...60 {
                        group.addTask {
                            let url = try HTTPURL("\(server.url)/\(number)")
                            let response = try await client.response(
                                for: TransferRequest(url: url, waitsToMultiplex: true))
                            #expect(response.isHTTP2)
                            return String(decoding: response.body, as: UTF8.self)
                        }
                    }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(connections.count == 1)
            }
        }
    }
}
