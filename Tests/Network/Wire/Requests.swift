import Foundation

/// Runs blocking calls on a new thread: on a machine with two cores Swift has two, and whoever answers is in this
/// process.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// A request as it goes over the wire.
package func httpRequest(
    _ method: String, _ path: String, host: String, _ fields: [String: String] = [:], _ body: String? = nil
) -> String {
    var fields = fields
    fields["Host"] = fields["Host"] ?? host
    fields["Content-Length"] = body.map { String($0.utf8.count) }
    let lines = fields.map { "\($0): \($1)\r\n" }.sorted().joined()
    return "\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")"
}
