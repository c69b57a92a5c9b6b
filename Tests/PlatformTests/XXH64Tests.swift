import Platform
import Testing

@Suite struct XXH64Tests {
    @Test(
        arguments: [
            ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999),
            ("archive.org", 0x5c40_7b4c_52c6_d5ad), ("coverartarchive.org", 0x6ba0_ada0_cbf7_b4bf),
            ("is1-ssl.mzstatic.com", 0x7400_15d2_aa3e_fca5),
            ("The quick brown fox jumps over the lazy dog, and then over 63 bytes.", 0xf3e8_ee90_9623_ce80),
        ] as [(String, UInt64)])
    func `a text has the hash that other programs compute`(text: String, hash: UInt64) {
        #expect(XXH64.hash(text) == hash, "\(String(XXH64.hash(text), radix: 16))")
    }
}
