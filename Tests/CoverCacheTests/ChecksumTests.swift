import Testing

@testable import CoverCache

@Suite struct ChecksumTests {
    private struct Vector: Sendable {
        var length: Int
        var unseeded: UInt64
        var seeded: UInt64
    }

    /// From `python -m pip install xxhash`: xxh64 of the first n bytes of a sequence, with seed 0 and with prime 1.
    private static let vectors: [Vector] = [
        Vector(length: 4, unseeded: 0xAE5A_CDC0_0A55_AC41, seeded: 0x8382_7D3D_D32E_E39C),
        Vector(length: 8, unseeded: 0x8711_6B33_65B9_24EB, seeded: 0x2447_BD24_2467_A7E4),
        Vector(length: 31, unseeded: 0x0F18_7C62_B1E7_22B7, seeded: 0x0683_EC96_C327_6482),
        Vector(length: 32, unseeded: 0x91B0_CB09_31A8_C629, seeded: 0xD291_CA18_230D_9589),
        Vector(length: 33, unseeded: 0x931B_043C_F8D6_5B94, seeded: 0xD87A_E9B6_167D_C27D),
        Vector(length: 100, unseeded: 0x8E22_72C0_8247_D5DB, seeded: 0x83EA_E33D_717F_90E0),
        Vector(length: 1021, unseeded: 0xA9AE_3F29_15B4_8EA1, seeded: 0x75F0_1330_5557_A1CE),
    ]

    private func checksum(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { Checksum.of($0, seed: seed) }
    }

    @Test(
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
        ] as [(String, UInt64)])
    func `XXH64 of short texts agrees with the specification's reference`(text: String, expected: UInt64) {
        #expect(checksum(Array(text.utf8)) == expected)
        #expect(Checksum.of(text) == expected)
    }

    @Test(arguments: vectors)
    private func `XXH64 agrees with the xxhash library at every branch of the algorithm`(vector: Vector) {
        let bytes = (0..<vector.length).map { index -> UInt8 in UInt8(truncatingIfNeeded: index * 7 + index / 251) }
        #expect(checksum(bytes) == vector.unseeded)
        #expect(checksum(bytes, seed: 0x9E37_79B1_85EB_CA87) == vector.seeded)
    }

    @Test func `every changed bit changes the checksum`() {
        var bytes = picture(1, bytes: 71)
        let sound = checksum(bytes)
        for offset in bytes.indices {
            bytes[offset] ^= 1
            #expect(checksum(bytes) != sound, "offset \(offset)")
            bytes[offset] ^= 1
        }
    }
}
