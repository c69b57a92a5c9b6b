/// Runs `body`, and gives up waiting for it after `limit`. It is not ended then. - Returns: Nil after the limit.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async -> Value? {
    let (first, continuation) = AsyncStream.makeStream(of: Value?.self)
    Task { continuation.yield(await body()) }
    let timer = Task {
        if (try? await Task.sleep(for: limit)) != nil { continuation.yield(nil) }
    }
    defer { timer.cancel() }
    return await first.first { _ in true } ?? nil
}
