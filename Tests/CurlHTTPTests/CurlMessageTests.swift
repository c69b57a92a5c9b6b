import CCurl
import OriginServer
import Platform
import Testing
import Wire

@testable import CurlHTTP

/// The linked libcurl words its messages as `CurlMessage` expects. `SecrecyTests` has those about proxies.
@Suite(.timeLimit(.minutes(5))) struct CurlMessageTests {
    @Test func `a refused connection is recognized by errno, and its message names host and port`() async throws {
        let port = try await closedPort()
        try await withClient { client in
            let error = await client.failure("http://127.0.0.1:\(port)/")
            #expect(error?.kind == .connect && error?.isRefused == true)
            #expect(error?.detail.hasPrefix(CurlMessage.failedToConnect.rawValue + "127.0.0.1 port \(port)") == true)
        }
    }

    @Test func `a name without an address is in the message`() async throws {
        try await withClient { client in
            let error = await client.failure("http://nonexistent.invalid/")
            #expect(error?.detail == CurlMessage.hostUnresolved.rawValue + "nonexistent.invalid")
        }
    }

    @Test func `a connection that is reset is a failure to receive`() async throws {
        try await withOrigin { origin, client in
            let error = await client.failure(origin.coverURL(1) + "?fault=reset")
            #expect(error?.detail.hasPrefix(.receiveFailed) == true, "\(error?.detail ?? "")")
        }
    }

    @Test(
        arguments: [
            (CURLE_OUT_OF_MEMORY, 0, .outOfResources), (CURLE_FAILED_INIT, 0, .outOfResources),
            (CURLE_COULDNT_CONNECT, EMFILE, .outOfResources), (CURLE_COULDNT_CONNECT, ENFILE, .outOfResources),
            (CURLE_COULDNT_CONNECT, ECONNREFUSED, .connect), (CURLE_COULDNT_CONNECT, EHOSTUNREACH, .connect),
        ] as [(CURLcode, Int32, TransferError.Kind)])
    func `a lack of memory or descriptors is no fault of the host`(
        code: CURLcode, systemError: Int32, kind: TransferError.Kind
    ) {
        let error = TransferError(
            code, url: "http://a/", isTooLarge: false, received: 0, limit: 1, text: "text", systemError: systemError)
        #expect(error.kind == kind && error.isRefused == (systemError == ECONNREFUSED))
    }

    @Test(
        arguments: [
            (CURLE_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed", .broken),
            (CURLE_UNSUPPORTED_PROTOCOL, "Protocol \"ftp\" not supported or disabled in libcurl", .refusedAddress),
            (CURLE_UNSUPPORTED_PROTOCOL, "Protocol \"http\" disabled in redirect", .refusedAddress),
            (CURLE_SSL_CONNECT_ERROR, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a:443", .connect),
            (
                CURLE_SSL_CONNECT_ERROR, "TLS connect error: error:0A000126:SSL routines::unexpected eof while reading",
                .connect
            ),
            (CURLE_SSL_CONNECT_ERROR, "Recv failure: Connection reset by peer", .connect),
            (CURLE_SSL_CONNECT_ERROR, "TLS connect error: error:0A00010B:SSL routines::wrong version number", .tls),
        ] as [(CURLcode, String, TransferError.Kind)])
    func `messages of other versions are classed by their parts`(code: CURLcode, text: String, kind: TransferError.Kind)
    {
        let error = TransferError(code, url: "http://a/", isTooLarge: false, received: 0, limit: 1, text: text)
        #expect(error.kind == kind)
    }
}
