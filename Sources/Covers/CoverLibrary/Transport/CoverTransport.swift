/// What sends the requests of a library in place of libcurl: a test double, or a program's own HTTP client.
///
/// Set it as `LibraryConfiguration.transport`. The library decides as usual which request is sent when, what it means, and what is
/// retried, followed, cached and stored.
public protocol CoverTransport: Sendable {
    /// Sends one request and returns its response. A redirect is a response: the library follows it.
    ///
    /// The transport limits the time that a request takes; the library limits the number of concurrent calls. The task is cancelled when
    /// the response is no longer needed. It has the task-local values of the task that asked first, such as its place in a trace.
    /// - Throws: a `CoverFailure`, whose kind is that of the request: those that `CoverFailure.isRetryable` names are retried. One with a `status`
    ///   counts as a response with that status. A `CancellationError` counts as `cancelled`, any other error as `broken`.
    func response(to request: TransportRequest) async throws -> TransportResponse
}
