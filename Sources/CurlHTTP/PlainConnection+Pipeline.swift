#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reading the responses of a pipeline.
extension PlainConnection {
    enum Advance {
        /// More is to come.
        case waiting
        /// What comes next is another response than a plain 304: an exchange is to take it.
        case differs
        /// The response of the exchange is whole.
        case whole
        /// All of the pipeline is answered.
        case finished
        case lost(Loss)
    }

    /// Reads what has come. - Parameter limit: bodies larger than that are not read here.
    func advance(_ scratch: UnsafeMutableRawBufferPointer, limit: Int) -> Advance {
        while true {
            if let exchange, exchange.hasHead {
                if let end = readBody(exchange, scratch) { return end }
                continue
            }
            if let result = exchange.map({ readHead($0, limit) }) ?? readNotModified() { return result }
            if exchange?.hasHead == true { continue }
            let amount = read(socket, scratch.baseAddress, scratch.count)
            if amount < 0, errno == EAGAIN || errno == EINTR { return .waiting }
            if amount <= 0 { return .lost(.closed) }
            pending.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[..<amount]))
        }
    }

    /// Nil: more has to come.
    private func readNotModified() -> Advance? {
        guard let pipeline else { return .lost(.closed) }
        var taken = 0
        let reading = pending.withUnsafeBytes { bytes -> PlainHead.Reading? in
            while !pipeline.isAnswered {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
                if rest.isEmpty { return nil }
                let length = pipeline.takeNotModified(rest)
                if length == 0 { return PlainHead.read(rest) }
                taken += length
            }
            return nil
        }
        if taken == pending.count { pending.removeAll(keepingCapacity: true) } else { pending.removeFirst(taken) }
        if pipeline.isAnswered {
            noteAnswer()
            // What comes unasked is nobody's.
            pipeline.hasExcess = !pending.isEmpty
            return pending.isEmpty ? .finished : .lost(.closed)
        }
        switch reading {
        case .whole, .unusual: return .differs
        case .incomplete where pending.count > Self.longestHead: return .differs
        case .incomplete, nil: return nil
        }
    }

    /// Nil: more has to come, or it has come whole.
    private func readHead(_ exchange: PlainExchange, _ limit: Int) -> Advance? {
        switch pending.withUnsafeBytes({ PlainHead.read($0) }) {
        case .incomplete: return pending.count > Self.longestHead ? .lost(.unusual) : nil
        case .unusual: return .lost(.unusual)
        case .whole(let head, let length):
            guard head.bodyLength <= limit, exchange.begin(head) else { return .lost(.unusual) }
            pending.removeFirst(length)
            return nil
        }
    }

    /// Nil: more is there.
    private func readBody(_ exchange: PlainExchange, _ scratch: UnsafeMutableRawBufferPointer) -> Advance? {
        if !pending.isEmpty {
            let count = min(pending.count, exchange.missing)
            pending.withUnsafeBytes { exchange.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            pending.removeFirst(count)
        }
        if exchange.missing == 0 {
            noteAnswer()
            return .whole
        }
        let amount = exchange.append(scratch) { read(socket, $0.baseAddress, $0.count) }
        if amount < 0, errno == EAGAIN || errno == EINTR { return .waiting }
        return amount <= 0 ? .lost(.closed) : nil
    }
}
