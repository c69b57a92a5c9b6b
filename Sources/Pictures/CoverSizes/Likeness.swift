import CPictures

/// What tells whether two pictures show one cover, in whatever sizes and codings: averages of a picture's areas, without its frame.
package struct Likeness: Sendable, Hashable {
    /// How two pictures are alike. Those that agree better are greater.
    package enum Verdict: Int32, Sendable, Comparable {
        /// One of them has nothing that could be recognised: it proves nothing.
        case plain
        case different
        /// One design: one is a crop, a scan, in other colours, or has a sticker.
        case alike
        /// One picture. Small type may differ: no average shows it.
        case same

        package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    /// Of what is stored: likenesses of other versions are made again.
    package static let version = 1

    private let pixelCount: UInt32
    /// One or two descriptors. The second one is that of the picture with its frame.
    private let descriptors: [UInt8]

    /// Reads a picture, which takes 0.2 to 10 ms.
    /// - Returns: nil if it cannot be read: it is damaged, too large, or not of JPEG, PNG or WebP.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        do throws(Reduction.Reason) {
            let file = try PictureFile(bytes)
            pixelCount = UInt32(file.pixelCount)
            descriptors = try file.reduced(to: Int(sleeve_described_side)) { picture, _ in
                let descriptors = [sleeve_descriptor](unsafeUninitializedCapacity: 2) { buffer, count in
                    withUnsafePointer(to: picture) { count = Int(sleeve_describe($0, buffer.baseAddress)) }
                }
                return descriptors.withUnsafeBytes { Array($0) }
            }
        } catch {
            return nil
        }
        if descriptors.isEmpty { return nil }
    }

    /// What `stored` gave. - Returns: nil for anything else.
    package init?(stored: [UInt8]) {
        let length = MemoryLayout<sleeve_descriptor>.size
        guard [length, 2 * length].contains(stored.count - 4) else { return nil }
        pixelCount = stored.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        descriptors = Array(stored.dropFirst(4))
    }

    package var stored: [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(pixelCount >> $0 & 255) } + descriptors
    }

    /// Whether each of 64 areas without the frame is darker than the next one in its row (the difference hash of 9 by 8 areas).
    package var gradients: UInt64 {
        var areas = [Int](repeating: 0, count: 72)
        let side = Int(sleeve_luma_side)
        for (index, luma) in descriptors.prefix(side * side).enumerated() {
            areas[index / side / 4 * 9 + index % side * 9 / side] += Int(luma)
        }
        // Of 32 columns every second area, nearly, has one more than the others.
        let widths = (0..<9).map { area in (0..<side).count { $0 * 9 / side == area } }
        return (0..<64).reduce(0) { hash, index in
            let (area, column) = (index / 8 * 9 + index % 8, index % 8)
            return hash << 1 | (areas[area] * widths[column + 1] < areas[area + 1] * widths[column] ? 1 : 0)
        }
    }

    /// Of pictures that are the same, 99 % have gradients that differ in at most this number of areas; of others 0.2 %.
    package static let maximumApart = 10

    /// Compares two pictures, whichever comes first; takes 0.1 to 0.4 ms.
    package func verdict(with other: Self) -> Verdict {
        // The smaller picture is laid over the larger one. Of equal sizes, the order is any, but always the same.
        let isFirst =
            pixelCount != other.pixelCount
            ? pixelCount > other.pixelCount : !descriptors.lexicographicallyPrecedes(other.descriptors)
        let (larger, smaller) = isFirst ? (self, other) : (other, self)
        let verdicts = larger.map { first in smaller.map { Verdict(rawValue: sleeve_compare(first, $0)) ?? .plain } }
        return verdicts.joined().max() ?? .plain
    }

    private func map<Result>(_ body: (UnsafePointer<sleeve_descriptor>) -> Result) -> [Result] {
        descriptors.withUnsafeBytes { bytes in
            let descriptors = bytes.bindMemory(to: sleeve_descriptor.self)
            return descriptors.indices.map { body(descriptors.baseAddress! + $0) }
        }
    }
}
