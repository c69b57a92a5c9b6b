/// A running worker, as the program that starts it knows it.
package struct TagWorkerProcess: Sendable {
    /// Ends it immediately.
    package var kill: @Sendable () -> Void
    /// Waits for its end. Returns the exit code; 128+N if signal N ended it.
    package var wait: @Sendable () -> Int32

    package init(kill: @escaping @Sendable () -> Void, wait: @escaping @Sendable () -> Int32) {
        (self.kill, self.wait) = (kill, wait)
    }

    /// Starts a worker whose standard input and output are these descriptors.
    package typealias Start = @Sendable (_ input: Int32, _ output: Int32) throws -> TagWorkerProcess
}
