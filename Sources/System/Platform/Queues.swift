/// A double-ended queue: constant time at both ends, a position's element in constant time.
///
/// It and ``Heap`` are what a queue of transfers needs of collections; a package of them is a fifth of the time that building the library takes.
package struct Deque<Element>: RandomAccessCollection, ExpressibleByArrayLiteral {
    /// A ring. Its size is zero or a power of two.
    private var ring: [Element?] = []
    /// The place of the first element in the ring.
    private var head = 0
    package private(set) var count = 0

    package init(arrayLiteral elements: Element...) {
        for element in elements { append(element) }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count)
        // Places of elements are never empty.
        return ring[place(position)]!
    }

    package mutating func append(_ element: Element) {
        makeRoom()
        ring[place(count)] = element
        count += 1
    }

    package mutating func prepend(_ element: Element) {
        makeRoom()
        head = place(ring.count - 1)
        ring[head] = element
        count += 1
    }

    package mutating func popFirst() -> Element? {
        if count == 0 { return nil }
        defer {
            ring[head] = nil
            head = place(1)
            count -= 1
        }
        return ring[head]
    }

    @discardableResult
    package mutating func removeFirst() -> Element {
        guard let first = popFirst() else { preconditionFailure("an empty deque has no first element") }
        return first
    }

    /// Takes time proportional to the number of elements.
    @discardableResult
    package mutating func remove(at position: Int) -> Element {
        let removed = self[position]
        for next in position + 1..<count { ring[place(next - 1)] = ring[place(next)] }
        count -= 1
        ring[place(count)] = nil
        return removed
    }

    /// Takes time proportional to the number of elements.
    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var kept: Deque = []
        for element in self where try !isRemoved(element) { kept.append(element) }
        self = kept
    }

    private func place(_ position: Int) -> Int { (head + position) & (ring.count - 1) }

    private mutating func makeRoom() {
        if count < ring.count { return }
        ring = Array(ring[head...]) + ring[..<head] + repeatElement(nil, count: Swift.max(4, count))
        head = 0
    }
}

extension Deque: Sendable where Element: Sendable {}

/// A binary heap: the least element in constant time, insertion and its removal in logarithmic time.
package struct Heap<Element: Comparable> {
    /// No element is less than its parent, which is at `(position - 1) / 2`.
    package private(set) var unordered: [Element] = []

    package init() {}

    package var isEmpty: Bool { unordered.isEmpty }
    package var min: Element? { unordered.first }

    package mutating func insert(_ element: Element) {
        var position = unordered.count
        unordered.append(element)
        while position > 0, unordered[position] < unordered[(position - 1) / 2] {
            unordered.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    @discardableResult
    package mutating func removeMin() -> Element {
        unordered.swapAt(0, unordered.count - 1)
        let least = unordered.removeLast()
        var position = 0
        while let child = lesserChild(of: position), unordered[child] < unordered[position] {
            unordered.swapAt(position, child)
            position = child
        }
        return least
    }

    private func lesserChild(of position: Int) -> Int? {
        let left = 2 * position + 1
        if left >= unordered.count { return nil }
        return left + 1 < unordered.count && unordered[left + 1] < unordered[left] ? left + 1 : left
    }
}

extension Heap: Sendable where Element: Sendable {}
