/// Hash functions whose results are the same on every machine and in every run, unlike `Hasher`'s.
enum StableHash {
    /// SplitMix64's finalizer (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014): neighbouring
    /// values get unrelated hashes.
    static func mix(_ value: UInt64) -> UInt64 {
        var hash = value
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }

    /// FNV-1a over the UTF-8 of `name`.
    static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
