import DequeModule

/// URLs whose bodies are larger than is kept, as far as lately seen: such a one is asked for once, to be passed through,
/// rather than once to see how large it is and once more to pass it through. A hint: it does not outlive the mirror.
struct LargeBodies {
    /// The oldest makes way.
    private let most: Int
    private var urls: Set<String> = []
    private var order: Deque<String> = []

    init(most: Int = 1_024) { self.most = most }

    func contain(_ url: String) -> Bool { urls.contains(url) }

    mutating func insert(_ url: String) {
        guard urls.insert(url).inserted else { return }
        order.append(url)
        if order.count > most { urls.remove(order.removeFirst()) }
    }

    /// It has become smaller.
    mutating func remove(_ url: String) { if urls.remove(url) != nil { order.removeAll { $0 == url } } }
}
