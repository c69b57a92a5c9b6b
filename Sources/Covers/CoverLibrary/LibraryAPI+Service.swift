#if ServiceLifecycle
    public import ServiceLifecycle

    /// A library in a `ServiceGroup` (swift-service-lifecycle). Name it before the services that use it: they end first.
    extension LibraryAPI: Service {
        /// Returns when the group shuts down or the task is cancelled, after `close()`: what has arrived is committed.
        public func run() async throws {
            // It throws if the task is cancelled, which is an end, too.
            try? await gracefulShutdown()
            await close()
        }
    }
#endif

/// Runs `body`, and calls `handler` when the service in whose task it runs is told to shut down; without the trait `ServiceLifecycle`, never.
func withShutdownHandler<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async -> Value,
    onShutdown handler: @escaping @Sendable () -> Void
) async -> Value {
    #if ServiceLifecycle
        await withGracefulShutdownHandler(operation: body, onGracefulShutdown: handler)
    #else
        await body()
    #endif
}
