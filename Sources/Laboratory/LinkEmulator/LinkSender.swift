/// One connection's sender and receiver in one direction.
struct LinkSender {
    var window = CongestionWindow()
    /// The bytes that wait for the window.
    var waiting = 0
    /// The bytes sent and not acknowledged.
    var inFlight = 0
    /// The bytes sent so far.
    var sent = 0
    /// False until the handshake is complete.
    var isOpen = false
    /// False while the receiver takes no bytes: its receive window is closed.
    var isReceiving = true
    /// How the stream ends after the bytes that wait.
    var ending: LinkEvent?
    /// The bytes that have arrived, in order or not.
    private var received = 0
    /// The starts of the lost segments that have not been sent again, in order.
    private var gaps: [Int] = []
    /// The bytes that the receiver has read.
    private var delivered = 0
    /// True if the end has arrived, perhaps before lost segments.
    var hasEndArrived = false

    /// The end is read when no byte is missing.
    var isComplete: Bool { hasEndArrived && gaps.isEmpty }

    mutating func receive(_ segment: LinkSegment) {
        if segment.isLost {
            // A segment sent again and lost again has its gap already.
            if segment.offset >= received { gaps.append(segment.offset) }
        } else if let gap = gaps.firstIndex(of: segment.offset) {
            gaps.remove(at: gap)
        }
        received = max(received, segment.offset + segment.length)
    }

    /// Returns the number of bytes that have arrived in order since the last call.
    mutating func takeDelivered() -> Int {
        let end = gaps.first ?? received
        defer { delivered = end }
        return end - delivered
    }
}
