/// A deterministic stream of random words: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014). Covers must be the same on every machine and in every run, so nothing here is seeded by chance.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.scramble(state)
    }

    /// A number in 0..<1.
    mutating func unit() -> Float { Float(next() >> 40) / Float(1 << 24) }

    /// A number in `range`.
    mutating func between(_ low: Float, _ high: Float) -> Float { low + (high - low) * unit() }

    /// A number in 0..<`count`.
    mutating func below(_ count: Int) -> Int { Int(next() >> 33) % count }

    /// Spreads the bits of `value`: neighbours come out unrelated.
    static func scramble(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A seed for a name: FNV-1a over its UTF-8.
    static func seed(_ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 {
            hash ^= UInt64(byte)
            hash &*= 0x100_0000_01B3
        }
        return hash
    }
}
