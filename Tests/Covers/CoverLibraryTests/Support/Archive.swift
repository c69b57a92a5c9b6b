import Wire

/// A server that answers each path with another response, and all others with 404.
final class Archive: Sendable {
    static let missing = response("404 Not Found", "<html>No cover</html>")
    static let unavailable = response("500 Internal Server Error", "")
    static let html = response("200 OK", "<html>Please wait</html>")
    static let pdf = response("200 OK", "%PDF-1.4")
    static let image = response("200 OK", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>")

    private let server: ScriptedServer

    /// - Parameter answers: responses by path.
    init(_ answers: [String: [UInt8]]) throws { server = try ScriptedServer { answers[$0.target] ?? Self.missing } }

    var url: String { server.url }
    /// Requests so far.
    var count: Int { server.requests.count }

    func stop() { server.stop() }

    private static func response(_ status: String, _ body: String) -> [UInt8] {
        httpResponse(status, [], Array(body.utf8))
    }
}
