import Platform

extension WorkThread {
    /// Runs blocking work on a thread, not on Swift's pool.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: Result { try body() }) }
        }
    }
}
