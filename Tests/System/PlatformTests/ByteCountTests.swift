import Platform
import Testing

@Suite struct ByteCountTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1_000, "0.98 KiB"), (4_096, "4 KiB"), (8_388_608, "8 MiB"), (32_154, "31.4 KiB"),
        (1_288_490_189, "1.20 GiB"), (10 << 30, "10 GiB"), (512_000, "500 KiB"), (Int.max, "8388608 TiB"),
    ])
    func `a number of bytes has three digits and a unit`(bytes: Int, text: String) {
        #expect(ByteCount(bytes).description == text)
    }
}
