/// Waits until `condition` is true.
/// - Throws: `NeverTrue` when it is still false after `limit`.
package func eventually(
    within limit: Duration = .seconds(60), _ condition: @Sendable () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        if ContinuousClock.now > deadline { throw NeverTrue() }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// A condition did not become true in time.
package struct NeverTrue: Error {}
