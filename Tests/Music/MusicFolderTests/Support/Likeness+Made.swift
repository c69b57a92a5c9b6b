import CoverSizes
import Platform

extension Likeness {
    /// What a made picture shows; another one for each number.
    /// - Parameters:
    ///   - noise: How far each value is from that of the same picture in another coding, at most.
    ///   - pixelCount: Of the rendition.
    static func made(_ number: UInt64, noise: Int = 0, pixelCount: Int = 250_000) -> Likeness {
        var (picture, coding) = (SplitMix64(seed: number), SplitMix64(seed: UInt64(pixelCount)))
        // Four by four areas of one shade each: 64 cells have structure at their edges.
        let shades = (0..<256).map { _ in Int.random(in: 20...235, using: &picture) }
        let luma = (0..<1_024).map { index in
            UInt8(shades[index / 64 * 16 + index % 32 / 2] + Int.random(in: -noise...noise, using: &coding))
        }
        let chroma = (0..<128).map { _ in UInt8(bitPattern: Int8.random(in: -40...40, using: &picture)) }
        let size = (0..<4).map { UInt8(truncatingIfNeeded: pixelCount >> (24 - 8 * $0)) }
        return Likeness(stored: size + luma + chroma)!
    }
}
