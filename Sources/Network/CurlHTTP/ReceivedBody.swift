/// The body of a transfer's response, as far as it has arrived.
struct ReceivedBody {
    /// Maximum memory taken for a body before it arrives, in bytes.
    private static let largestReserve = 4 << 20
    /// Maximum number of bytes that are read of a body that is not kept, so that its connection can be used again.
    private static let longestUnkept = 64 << 10

    private let memory: BodyMemory
    /// The longest body that is kept, in bytes.
    let limit: Int
    private(set) var bytes: [UInt8] = []
    /// As `TransferResponse.refusal`.
    private(set) var refusal: [UInt8] = []
    private var isRefusal = false
    /// How many bytes have arrived, kept or not.
    private(set) var received = 0
    /// The length with which `memory` counts the body.
    private var counted = 0
    private(set) var isKept = false
    /// Nothing else of the response is needed, however it ends.
    private(set) var isAnswered = false
    private(set) var isTooLarge = false
    /// As `TransferRequest.isWanted`. It is asked once.
    var isWanted: (length: Int, judge: @Sendable ([UInt8]) -> Bool)?

    init(memory: BodyMemory, limit: Int) { (self.memory, self.limit) = (memory, limit) }

    /// A body begins that is kept.
    /// - Parameter announced: its length; 0 if it is not known.
    /// - Returns: false to end the transfer.
    mutating func begin(_ announced: Int) -> Bool {
        if announced > limit {
            isTooLarge = true
            return false
        }
        // Memory beyond `largestReserve` is taken as the body arrives, not as its server announces it.
        bytes.reserveCapacity(min(announced, Self.largestReserve))
        // A server may announce any length, whose sums would overflow.
        counted = min(announced, 1 << 40)
        memory.begin(counted)
        isKept = true
        return true
    }

    /// A body begins that nobody needs. It is read to its end, so that its connection can be used again, if it is short.
    /// - Parameter isRefusal: its beginning may say why.
    /// - Returns: false to end the transfer.
    mutating func beginUnkept(_ announced: Int, isRefusal: Bool) -> Bool {
        (isAnswered, self.isRefusal) = (true, isRefusal)
        return announced <= Self.longestUnkept
    }

    /// - Returns: false to end the transfer.
    mutating func receive(_ chunk: UnsafeRawBufferPointer) -> Bool {
        received += chunk.count
        guard isKept else {
            if isRefusal { refusal += chunk.prefix(max(0, TransferResponse.longestRefusal - refusal.count)) }
            return received <= Self.longestUnkept
        }
        if received > limit {
            isTooLarge = true
            return false
        }
        bytes.append(contentsOf: chunk)
        if received > counted {
            memory.grow(by: received - counted)
            counted = received
        }
        if let isWanted, received >= isWanted.length {
            self.isWanted = nil
            isAnswered = !isWanted.judge(bytes)
        }
        return !isAnswered
    }

    /// Another response may follow.
    mutating func forget() {
        if isKept { memory.end(counted) }
        (bytes, received, isKept, isAnswered, isTooLarge) = ([], 0, false, false, false)
        (refusal, isRefusal) = ([], false)
    }
}

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

    init(limit: Int) { self.limit = limit }

    /// Whether another transfer may start beside those in flight.
    /// - Parameter unstored: the length of complete bodies that wait to be stored.
    func hasRoom(inFlight: Int, unstored: Int) -> Bool {
        unstored + (count > 0 ? bytes / count * (inFlight + 1) : 0) <= limit
    }

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
