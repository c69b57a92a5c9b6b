import Synchronization
import Wire

/// A server that answers each path with another response, and all others with 404.
final class Archive: Sendable {
    static let missing = response("404 Not Found", "<html>No cover</html>")
    static let unavailable = response("500 Internal Server Error", "")
    static let html = response("200 OK", "<html>Please wait</html>")
    static let pdf = response("200 OK", "%PDF-1.4")
    static let image = response("200 OK", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>")

    private let listener: Listener
    private let counter: Counter

    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    /// - Parameter answers: responses by path.
    init(_ answers: [String: String]) throws {
        let counter = Counter()
        self.counter = counter
        listener = try Listener { head in
            counter.count.add(1, ordering: .relaxed)
            let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            return answers[path] ?? Self.missing
        }
    }

    var url: String { listener.url }
    /// Requests so far.
    var count: Int { counter.count.load(ordering: .relaxed) }

    func stop() { listener.stop() }

    private static func response(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
