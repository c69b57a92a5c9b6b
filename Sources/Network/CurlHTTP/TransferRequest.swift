import CCurl
package import HTTPTypes
import Platform

/// A request for a cover, or one to a remote library.
package struct TransferRequest: Sendable {
    package var url: HTTPURL
    /// The header fields of every request for a cover, beside the `User-Agent`. Other types than images are accepted, as some servers
    /// label images with them and answer 406 to a request for images only. No coding is wanted; gzip and deflate are decoded.
    package static let coverFields: HTTPFields = [.accept: "image/*, */*;q=0.8", .acceptEncoding: "identity"]

    /// Additional header fields, such as `If-None-Match`.
    package var headerFields: HTTPFields
    /// Wait for a connection that can multiplex instead of opening another. For hosts that are known to speak HTTP/2.
    package var waitsToMultiplex: Bool
    /// Speak HTTP/1.1 over TLS, too.
    package var isHTTP1 = false
    /// Connect to addresses of this family only; nil for what the configuration says.
    package var addressFamily: AddressFamily?
    /// Use no connection that is open.
    package var needsNewConnection = false
    /// What is asked for; nil if that is no cover. `UnaskedAnswer` names it.
    package var cover: RequestedCover?
    /// Streams of an HTTP/2 connection before libcurl opens another one. The largest number so far applies to all hosts; 100 if
    /// there is none.
    package var streams: Int?
    /// The proxy that it goes through, and the most connections to that; nil for none. Idle ones are closed before one is opened beyond them: those of
    /// tunnels are of use to one host only.
    package var proxy: (name: String, mostConnections: Int)?
    /// Connect to public addresses only, as with `HTTPClientConfiguration.deniesPrivateAddresses`.
    package var deniesPrivateAddresses = false
    /// Take the body as it is, whatever content coding its server names.
    package var keepsCoding = false
    /// The cookies of an earlier response of the same chain of redirects. No other cookie is sent.
    package var cookies: [String] = []
    /// Judges a body once `length` bytes of it have arrived: called on the event loop with what is there then. If it returns false, no more is
    /// read: these bytes are the body of the response.
    package var isWanted: (length: Int, judge: @Sendable ([UInt8]) -> Bool)?
    /// Called on the event loop with what happens to the transfer's connection. If it returns false for `opening`, no connection is
    /// opened, and the transfer ends with the error `cancelled`. If it returns false for `resending`, the transfer fails.
    package var onConnection: (@Sendable (ConnectionEvent) -> Bool)?
    /// What a transport runs in; nil for nothing of the kind.
    package var context: TaskContext?
    /// The body of a POST, with which only `headerFields` and what the protocol requires are sent; nil for a GET of a cover.
    package var post: [UInt8]?

    package init(url: HTTPURL, headerFields: HTTPFields = [:], waitsToMultiplex: Bool = false, post: [UInt8]? = nil) {
        self.url = url
        self.headerFields = headerFields
        self.waitsToMultiplex = waitsToMultiplex
        self.post = post
    }
}

/// A step of a transfer that changes what its host may get.
package enum ConnectionEvent: Sendable, Equatable {
    /// A connection is being opened: the address is known. `others` are open to the same origin.
    case opening(others: Int)
    /// A connection, new or reused, is ready: over TLS, its protocol has been negotiated.
    case ready
    /// libcurl is about to send the request again: the connection ended before an answer.
    case resending
    /// The time of the transfer is almost over. As its body arrives, it may take as long again.
    case overdue
}

/// The request target (RFC 9112 section 3.2).
extension Transfer {
    /// Whether the environment may name a proxy for http URLs.
    private static let hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { (name: String) in
        getenv(name).map { $0[0] != 0 } ?? false
    }

    /// Sets the URL, and the request target to the byte: some releases of libcurl drop an empty query and change the case of
    /// percent-encodings.
    func setTarget(_ request: TransferRequest) {
        sleeve_setopt_string(easy, CURLOPT_URL, request.url.requestURL)
        // CURLOPT_REQUEST_TARGET would also be sent to a proxy that needs the whole URL. Servers have to take that, too (RFC 9112 section
        // 3.2.2), so it may be sent where an empty query would be dropped.
        let target = request.url.target
        let isOwn = request.url.isHTTPS || !Self.hasProxy
        let written = isOwn ? String(target) : target.utf8.last == UInt8(ascii: "?") ? request.url.requestURL : nil
        sleeve_setopt_string(easy, CURLOPT_REQUEST_TARGET, written)
    }
}

/// The task-local values of the task that made it, for tasks that are started later from elsewhere: they reach a program's own transport, and
/// with them what its tracer and its logger keep there.
package final class TaskContext: Sendable {
    private let starts: AsyncStream<@Sendable () -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        starts = continuation
        // A task has the task-local values of the one that creates it.
        Task { for await start in stream { start() } }
    }

    deinit { starts.finish() }

    /// Runs `body` in a task with these values. Cancelling the caller's task cancels it.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = await withCheckedContinuation { continuation in
            _ = starts.yield { continuation.resume(returning: Task { await body() }) }
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
