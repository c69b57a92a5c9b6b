/// The memory for the bodies of a client's transfers, in bytes. While it is more than the limit, no transfer starts.
///
/// A body counts with its announced length, or with what has arrived if that is more, and until it is stored. Transfers in flight whose bodies
/// have not begun count as many bytes as the others on average. Nothing ends or delays those in flight, each of which may bring a body of the
/// largest size. Used on the event loop only.
final class BodyMemory {
    private let limit: Int
    /// The length of the bodies that are arriving.
    private var bytes = 0
    /// How many they are.
    private var count = 0
    /// The length of complete bodies that wait to be stored.
    var unstored = 0

    init(limit: Int) { self.limit = limit }

    /// Whether another transfer may start beside those in flight.
    func hasRoom(inFlight: Int) -> Bool { unstored + (count > 0 ? bytes / count * (inFlight + 1) : 0) <= limit }

    func begin(_ length: Int) {
        bytes += length
        count += 1
    }

    func grow(by length: Int) { bytes += length }

    func end(_ length: Int) {
        bytes -= length
        count -= 1
    }
}
