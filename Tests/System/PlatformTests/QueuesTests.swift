import Platform
import Testing

@Suite struct QueuesTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A deque holds what an array does after any changes at its ends and within`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (deque, array): (Deque<Int>, [Int]) = ([], [])
        for number in 0..<2_000 {
            // More goes in at first, more comes out then: the ring grows, and its head goes round.
            switch Int.random(in: 0..<(number < 1_000 ? 10 : 14), using: &random) {
            case 0..<5:
                deque.append(number)
                array.append(number)
            case 5..<7:
                deque.prepend(number)
                array.insert(number, at: 0)
            case 7 where !array.isEmpty:
                let position = Int.random(in: array.indices, using: &random)
                #expect(deque.remove(at: position) == array.remove(at: position))
            case 8 where number.isMultiple(of: 50):
                let divisor = Int.random(in: 2...5, using: &random)
                deque.removeAll { $0.isMultiple(of: divisor) }
                array.removeAll { $0.isMultiple(of: divisor) }
            default:
                #expect(deque.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
            }
            #expect(deque.count == array.count && deque.first == array.first && deque.last == array.last)
            if number.isMultiple(of: 20) { #expect(Array(deque) == array) }
        }
        #expect(Array(deque) == array)
    }

    @Test func `A deque lets go of what it gives`() {
        final class Thing {}
        weak var weakly: Thing?
        var deque: Deque<Thing> = []
        do {
            let thing = Thing()
            weakly = thing
            deque.append(thing)
        }
        #expect(weakly != nil)
        _ = deque.popFirst()
        #expect(weakly == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A heap gives the least of what is in it`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (heap, array): (Heap<Int>, [Int]) = (Heap(), [])
        for _ in 0..<2_000 {
            if Int.random(in: 0..<5, using: &random) < 3 || array.isEmpty {
                let number = Int.random(in: 0..<500, using: &random)
                heap.insert(number)
                array.append(number)
            } else {
                let least = array.indices.min { array[$0] < array[$1] }!
                #expect(heap.removeMin() == array.remove(at: least))
            }
            #expect(heap.min == array.min() && heap.isEmpty == array.isEmpty)
        }
        #expect(heap.unordered.sorted() == array.sorted())
    }
}
