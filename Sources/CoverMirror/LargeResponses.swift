import DequeModule

/// URLs whose latest response was too large to store. A request for one is streamed immediately, instead of being sent a second time
/// after the size is known. Kept in memory only.
struct LargeResponses {
    /// Beyond it the oldest is removed.
    private let capacity: Int
    private var urls: Set<String> = []
    private var order: Deque<String> = []

    init(capacity: Int = 1_024) { self.capacity = capacity }

    func contains(_ url: String) -> Bool { urls.contains(url) }

    mutating func insert(_ url: String) {
        guard urls.insert(url).inserted else { return }
        order.append(url)
        if order.count > capacity { urls.remove(order.removeFirst()) }
    }

    mutating func remove(_ url: String) { if urls.remove(url) != nil { order.removeAll { $0 == url } } }
}
