import CCurl
import OriginServer
import Platform
import Testing
import Wire

@testable import CurlHTTP

/// The linked libcurl words its messages as `CurlMessage` expects. `SecrecyTests` has those about proxies.
@Suite(.timeLimit(.minutes(5))) struct CurlMessageTests {
    @Test func `a refused connection is recognized by errno, and its message names host and port`() async throws {
        let port = try closedPort()
        try await withClient { client in
            let url = "http://127.0.0.1:\(port)/"
            let error = await client.failure(url)
            #expect(error?.kind == .connect && error?.isRefused == true && error?.url == url)
            #expect(error?.detail.hasPrefix(CurlMessage.failedToConnect.rawValue + "127.0.0.1 port \(port)") == true)
        }
    }

    @Test func `a name without an address is a failure of name resolution, with the name in the message`() async throws
    {
        try await withClient { client in
            let error = await client.failure("http://nonexistent.invalid/")
            #expect(error?.kind == .nameResolution)
            #expect(error?.detail == CurlMessage.hostUnresolved.rawValue + "nonexistent.invalid")
        }
    }

    @Test func `a connection that is reset is a failure to receive`() async throws {
        try await withOrigin { origin, client in
            let error = await client.failure(origin.coverURL(1) + "?fault=reset")
            #expect(error?.detail.hasPrefix(.receiveFailed) == true, "\(error?.detail ?? "")")
        }
    }

    @Test func `an answer without TLS is an error of OpenSSL`() async throws {
        try await withListener(answer: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", readsHead: false) {
            listener in
            let url = "https://127.0.0.1:\(listener.port)/1.jpg"
            try await withClient { client in
                let error = await client.failure(url)
                #expect(error?.detail.contains(.ofOpenSSL) == true, "\(error?.detail ?? "")")
            }
        }
    }

    @Test(
        arguments: [
            (CURLE_OUT_OF_MEMORY, 0, "", .outOfResources), (CURLE_FAILED_INIT, 0, "", .outOfResources),
            (CURLE_COULDNT_CONNECT, EMFILE, "", .outOfResources), (CURLE_COULDNT_CONNECT, ENFILE, "", .outOfResources),
            (CURLE_COULDNT_CONNECT, ECONNREFUSED, "", .connect), (CURLE_COULDNT_CONNECT, EHOSTUNREACH, "", .connect),
            (CURLE_UNSUPPORTED_PROTOCOL, 0, "Received HTTP/0.9 when not allowed", .broken),
            (CURLE_SSL_CONNECT_ERROR, 0, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a:443", .connect),
            (CURLE_SSL_CONNECT_ERROR, 0, "error:0A000126:SSL routines::unexpected eof while reading", .connect),
            (CURLE_SSL_CONNECT_ERROR, 0, "Recv failure: Connection reset by peer", .connect),
            (CURLE_SSL_CONNECT_ERROR, 0, "error:0A00010B:SSL routines::wrong version number", .tls),
        ] as [(CURLcode, Int32, String, TransferError.Kind)])
    func `codes and messages of all versions are classed, and a lack of memory or descriptors is no fault of the host`(
        code: CURLcode, systemError: Int32, text: String, kind: TransferError.Kind
    ) {
        let error = TransferError(
            code, url: "http://a/", isTooLarge: false, received: 0, limit: 1, text: text, systemError: systemError)
        #expect(error.kind == kind && error.isRefused == (systemError == ECONNREFUSED))
    }
}
