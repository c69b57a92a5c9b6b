import Foundation
import OriginServer
import Wire

/// Runs blocking calls on a thread of their own: on a machine with two cores Swift has two, and the origin is in this
/// process.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

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
    /// One request on a connection of its own.
    func fetch(_ target: String, method: String = "GET", _ fields: [String: String] = [:]) async throws -> Reply {
        let port = port
        return try await blocking {
            let wire = try Wire(port: port)
            try wire.send(request(target, method: method, fields))
            return try wire.reply(toHead: method == "HEAD")
        }
    }
}
