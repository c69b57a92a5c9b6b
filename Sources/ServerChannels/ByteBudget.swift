import Synchronization

/// Bounds the bytes that a server holds for its clients.
package final class ByteBudget: Sendable {
    private struct Waiter {
        var id: Int
        var count: Int
        var continuation: CheckedContinuation<Bool, Never>
        var timeout: Task<Void, Never>?
    }

    private struct State {
        var used = 0
        var waiters: [Waiter] = []
        var count = 0
    }

    private let limit: Int
    private let timeout: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - timeout: how long a reservation may wait for the bytes of others.
    package init(limit: Int, timeout: Duration) {
        self.limit = limit
        self.timeout = timeout
    }

    /// The bytes that are held now.
    package var used: Int { state.withLock { $0.used } }
    /// How many reservations wait.
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Bytes that are held until the object is released.
    package final class Reservation: Sendable {
        private let budget: ByteBudget
        private let count: Mutex<Int>

        fileprivate init(_ budget: ByteBudget, _ count: Int) {
            self.budget = budget
            self.count = Mutex(count)
        }

        deinit { budget.release(count.withLock { $0 }) }

        /// Reserves more bytes, without waiting. - Returns: false if the budget has no room for them.
        package func grow(by more: Int) -> Bool {
            guard budget.take(more) else { return false }
            count.withLock { $0 += more }
            return true
        }

        /// Holds this many bytes from now on, without waiting. - Returns: false if the budget has no room for them.
        package func resize(to size: Int) -> Bool {
            count.withLock { count in
                guard size <= count || budget.take(size - count) else { return false }
                if size < count { budget.release(count - size) }
                count = size
                return true
            }
        }
    }

    /// A reservation of no bytes, to be grown.
    package func reservation() -> Reservation { Reservation(self, 0) }

    /// Reserves bytes, and waits until others are released if there is no room. More than the limit counts as the limit.
    /// - Returns: nil if there was no room within the timeout.
    package func reserve(_ count: Int) async -> Reservation? {
        let count = min(max(0, count), limit)
        if take(count) { return Reservation(self, count) }
        let isGranted = await withCheckedContinuation { continuation in
            // The room may have become free since.
            let isFree: Bool? = state.withLock { state in
                if limit - state.used >= count {
                    state.used += count
                    return true
                }
                guard timeout > .zero else { return false }
                state.count += 1
                let id = state.count
                let waiter = Waiter(
                    id: id, count: count, continuation: continuation,
                    timeout: Task { [timeout] in
                        if (try? await Task.sleep(for: timeout)) != nil { self.giveUp(id) }
                    })
                state.waiters.append(waiter)
                return nil
            }
            if let isFree { continuation.resume(returning: isFree) }
        }
        return isGranted ? Reservation(self, count) : nil
    }

    private func take(_ count: Int) -> Bool {
        state.withLock { state in
            guard count >= 0, limit - state.used >= count else { return false }
            state.used += count
            return true
        }
    }

    private func release(_ count: Int) {
        let granted = state.withLock { state in
            state.used -= count
            // A small reservation need not wait for a large one.
            var granted: [Waiter] = []
            state.waiters.removeAll { waiter in
                guard limit - state.used >= waiter.count else { return false }
                state.used += waiter.count
                granted.append(waiter)
                return true
            }
            return granted
        }
        for waiter in granted {
            waiter.timeout?.cancel()
            waiter.continuation.resume(returning: true)
        }
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }
}
