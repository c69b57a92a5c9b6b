import NIOCore
import Synchronization

/// A fixed set of pictures, each drawn when it is first asked for and then kept: about 2 MB when all are.
///
/// A cover is one of these with a prefix of its own, so that answering a request costs no drawing.
final class PictureShelf: Sendable {
    static let shared = PictureShelf()

    /// How long the covers made from the common pictures are, in bytes: the 64 quantiles of a log-normal distribution
    /// shifted by 8 KB, `8000 + 10500 · exp(1.3 · z)`. Their mean is 31 KB, as in a library of real covers.
    static let commonSizes = [
        8500, 8800, 9100, 9300, 9500, 9800, 10000, 10200, 10500, 10700, 10900, 11200,
        11400, 11700, 12000, 12200, 12500, 12800, 13100, 13400, 13700, 14100, 14400, 14800,
        15100, 15500, 15900, 16300, 16800, 17200, 17700, 18200, 18800, 19300, 19900, 20600,
        21200, 21900, 22700, 23500, 24300, 25200, 26200, 27300, 28400, 29600, 31000, 32400,
        34100, 35800, 37800, 40100, 42600, 45400, 48800, 52600, 57300, 62900, 70000, 79300,
        92200, 111700, 147100, 251300,
    ]

    /// Extra sizes for covers that are asked to be smaller than any common one.
    static let smallSizes = [800, 1000, 1500, 2200, 3300, 5000]

    private let slots: [Slot]
    /// The common pictures' slots by size, with the small ones before them.
    private let bySize: [(size: Int, slot: Int)]

    private final class Slot: Sendable {
        let picture = Mutex<ByteBuffer?>(nil)
    }

    private init() {
        let sizes = Self.commonSizes + Self.smallSizes
        slots = sizes.map { _ in Slot() }
        bySize = sizes.enumerated().map { (size: $1, slot: $0) }.sorted { $0.size < $1.size }
    }

    /// The picture of a cover that may have any size.
    func tail(any hash: UInt64) -> ByteBuffer { tail(slot: Int(hash % UInt64(Self.commonSizes.count))) }

    /// The largest picture for a cover of `size` bytes, or the smallest there is.
    func tail(notOver size: Int) -> ByteBuffer { tail(slot: (bySize.last { $0.size <= size } ?? bySize[0]).slot) }

    private func tail(slot index: Int) -> ByteBuffer {
        // A lock of its own for each: one slow drawing does not hold up requests for pictures that are there.
        slots[index].picture.withLock { kept in
            if let kept { return kept }
            let sizes = Self.commonSizes + Self.smallSizes
            let picture = Picture(
                seed: SplitMix.scramble(UInt64(index) &+ 1), byteCount: sizes[index] - CoverParts.usualPrefix)
            let tail = ByteBuffer(bytes: picture.tail)
            kept = tail
            return tail
        }
    }
}
