package import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// Documents that are no covers, such as the answers of services that are searched for covers. They are not cached.
extension LibraryAPI {
    /// A response to a GET, whatever its status.
    package struct Document: Sendable {
        package let status: Int
        /// What `Retry-After` asks for.
        package let retryAfter: Duration?
        /// Empty for a status other than 2xx.
        package let body: [UInt8]
    }

    /// Requests a document with the configuration's client: its `User-Agent`, timeout, redirects and refused addresses apply. It is sent
    /// immediately and once; the caller limits and retries.
    /// - Parameters:
    ///   - maximumSize: the longest body that is accepted, in bytes.
    ///   - authorization: the value of the field `Authorization`; nil for none.
    ///   - leavesOrigin: Follow redirects to other origins, too; else such a redirect is the response.
    /// - Throws: `CoverFailure` if there is no response, the body is too long, or the library is offline or closed.
    package func document(
        at url: String, maximumSize: Int, authorization: String? = nil, leavesOrigin: Bool = true
    ) async throws(CoverFailure) -> Document {
        let location = try HTTPURL(location: url, ignoring: [])
        if configuration.isOffline { throw CoverFailure(.offline, url: url, detail: "offline") }
        if covers.isClosed { throw .closed(url) }
        let response: TransferResponse
        do {
            response = try await poster.response(
                to: location, authorization.map { [.authorization: $0] } ?? [:], leavesOrigin: leavesOrigin)
        } catch let failure as CoverFailure {
            throw failure
        } catch let error as TransferError {
            throw CoverFailure(error)
        } catch {
            throw CoverFailure(.connect, url: url, detail: "\(error)")
        }
        guard response.body.count <= maximumSize else {
            throw CoverFailure(.tooLarge, url: url, detail: "larger than \(ByteCount(maximumSize))")
        }
        return Document(
            status: response.head.status.code,
            retryAfter: RetryAfter.delay(response.head.headerFields, now: WallClock.milliseconds() / 1_000),
            body: response.body)
    }
}
