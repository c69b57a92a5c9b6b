import AlbumLibrary
import CoverFetch
import CurlHTTP
import HTTPTypes
import Platform
import Synchronization

/// The requests of a library that are not for covers: edits that are posted to its remote library, and documents that a command reads.
/// Starts libcurl with the first one.
final class RemotePoster: Sendable {
    private let configuration: LibraryConfiguration
    private let client = Mutex<HTTPClient?>(nil)

    init(_ configuration: LibraryConfiguration) { self.configuration = configuration }

    /// The remote library of the configuration; nil if it has none.
    /// - Throws: `LibraryError` if its URL cannot be used.
    func remoteLibrary() throws(LibraryError) -> RemoteLibrary? {
        guard let url = configuration.remote?.absoluteString else { return nil }
        if url.contains("?") {
            throw .invalidConfiguration("cannot use the remote library's URL: remove its query (?…)")
        }
        do throws(HTTPURL.Problem) {
            return RemoteLibrary(url: try HTTPURL(url).string) { await self.post($0, Array($1.utf8), key: $2) }
        } catch {
            throw .invalidConfiguration("cannot use the remote library's URL: \(error)")
        }
    }

    private func post(_ url: String, _ body: [UInt8], key: String) async -> RemoteLibrary.Response {
        guard let url = try? HTTPURL(url), let name = HTTPField.Name("Idempotency-Key") else {
            return .unreachable("its URL cannot be used")
        }
        // No redirect is followed: a redirected POST would become a GET (RFC 9110 section 15.4).
        let request = TransferRequest(
            url: url,
            headerFields: [
                .accept: "application/json", .contentType: "application/json", .userAgent: configuration.userAgent,
                name: "\"\(key)\"",
            ], post: body)
        do {
            return .status(try await startedClient().response(for: request).head.status.code)
        } catch {
            return .unreachable((error as? TransferError).map { CoverFailure($0).detail } ?? "\(error)")
        }
    }

    /// Sends a GET and returns the last response, after redirects.
    /// - Parameter leavesOrigin: Follow redirects to other origins, too.
    func response(
        to url: HTTPURL, _ headerFields: HTTPFields, leavesOrigin: Bool
    ) async throws -> TransferResponse {
        var (request, redirects) = (TransferRequest(url: url, headerFields: headerFields), 0)
        while true {
            let response = try await startedClient().response(for: request)
            let next = configuration.redirectPolicy.decide(
                response, of: url, at: request.url, redirectCount: redirects)
            guard let next, try leavesOrigin || next.get().origin == url.origin else { return response }
            (request.url, request.cookies) = (try next.get(), response.cookies)
            redirects += 1
        }
    }

    private func startedClient() throws -> HTTPClient {
        try client.withLock { client in
            let started = try client ?? configuration.makeClient()
            client = started
            return started
        }
    }

    func close() { client.withLock { $0 }?.loop.shutdown() }
}
