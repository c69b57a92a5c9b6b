#if os(Linux)
    import Testing

    @testable import Platform

    @Suite struct UnwrittenDataTests {
        @Test func `what waits for the disk and what is on its way there count, in bytes`() {
            let text =
                "MemTotal:       24000000 kB\nDirty:              1234 kB\nWriteback:            56 kB\nWritebackTmp:    9 kB\n"
            #expect(UnwrittenData.bytes(in: text.utf8) == (1_234 + 56) << 10)
        }

        @Test(arguments: ["", "Dirty:", "Dirty: many kB", "Dirty: 12", "Dirty:\u{0} 1 kB"])
        func `a system that does not say counts nothing`(text: String) {
            #expect(UnwrittenData.bytes(in: text.utf8) == 0)
        }
    }
#endif
