import OriginServer
import Wire

/// Runs `body` with an origin and stops it afterwards.
func withOrigin(_ options: OriginOptions = .init(), _ body: (Origin) async throws -> Void) async throws {
    let origin = try await Origin.start(options)
    do {
        try await body(origin)
    } catch {
        await origin.stop()
        throw error
    }
    await origin.stop()
}

func request(_ target: String, method: String = "GET", _ fields: [String: String] = [:]) -> String {
    let lines = fields.map { "\($0): \($1)\r\n" }.joined()
    return "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n"
}

extension Origin {
    /// Sends one request on its own connection.
    func fetch(_ target: String, method: String = "GET", _ fields: [String: String] = [:]) async throws -> Reply {
        let port = port
        return try await onThread {
            let wire = try Wire(port: port)
            try wire.send(request(target, method: method, fields))
            return try wire.reply(toHead: method == "HEAD")
        }
    }
}
