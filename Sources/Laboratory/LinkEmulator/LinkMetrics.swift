/// The traffic of a link.
package struct LinkMetrics: Sendable, Equatable {
    /// The connections accepted.
    package internal(set) var connections = 0
    /// The connections open now.
    package internal(set) var openConnections = 0
    /// The maximum of `openConnections`.
    package internal(set) var peakConnections = 0
    /// The bytes from clients that have entered the link.
    package internal(set) var bytesUp = 0
    /// The bytes from servers that have entered the link.
    package internal(set) var bytesDown = 0
    /// The segments that were lost, in both directions.
    package internal(set) var lostSegments = 0

    /// One JSON object.
    package var json: String {
        #"{"connections":\#(connections),"openConnections":\#(openConnections),"peakConnections":\#(peakConnections),"#
            + #""bytesUp":\#(bytesUp),"bytesDown":\#(bytesDown),"lostSegments":\#(lostSegments)}"#
    }
}
