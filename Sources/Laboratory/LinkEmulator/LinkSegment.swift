/// The content of one segment.
enum LinkEvent: Sendable {
    /// The connection opens.
    case open
    /// Bytes arrive.
    case data
    /// The sender has sent everything.
    case end
    /// The sender abandons the connection.
    case reset
}

/// A segment between its transmission and its acknowledgement.
struct LinkSegment {
    let connection: Int
    let event: LinkEvent
    /// The position of the first byte in the connection's stream.
    let offset: Int
    let length: Int
    /// When its last bit leaves the bottleneck.
    let departure: Duration
    let isLost: Bool
}
