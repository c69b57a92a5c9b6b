import Testing

@testable import OriginServer

@Suite("A generated cover")
struct CoverImageTests {
    @Test("is a square JPEG whose every block decodes", arguments: [0, 1, 2, 3, 4, 100, 4999, Int.max])
    func decodes(number: Int) throws {
        let reader = try JPEGReader(CoverImage.jpeg(number: number))
        #expect(reader.width == reader.height)
        #expect((250...1200).contains(reader.width))
        #expect(reader.comments == ["Sleeve cover \(number)"])
    }

    @Test("has bytes no other has, and always the same")
    func unique() {
        let all = (0..<2000).map { CoverImage.jpeg(number: $0) }
        #expect(Set(all).count == all.count)
        #expect(CoverImage.jpeg(number: 17) == all[17])
    }

    @Test("has the size of a real one: 8 to 250 KB, 31 KB on average")
    func sizes() {
        let sizes = (0..<5000).map { CoverImage.parts(number: $0).length }
        #expect((29_000...34_000).contains(sizes.reduce(0, +) / sizes.count))
        #expect((8000...9000).contains(sizes.min() ?? 0))
        #expect((240_000...260_000).contains(sizes.max() ?? 0))
        let median = sizes.sorted()[2500]
        #expect((16_000...22_000).contains(median))
    }

    @Test("has the size that was asked for", arguments: [800, 1000, 1234, 5000, 31_000, 300_000, 2_000_000])
    func asked(size: Int) throws {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: size)
        #expect((size - 3...size).contains(bytes.count))
        #expect(try JPEGReader(bytes).comments.first == "Sleeve cover 9")
    }

    @Test("is as small as it gets when less was asked")
    func smallest() throws {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: 0)
        #expect(bytes.count < 900)
        #expect(try JPEGReader(bytes).width == 24)
    }

    @Test("varies in colour: covers of one picture have different chroma quantisers")
    func colors() throws {
        var seen: Set<[UInt8]> = []
        for number in 0..<200 {
            let reader = try JPEGReader(CoverImage.jpeg(number: number, aboutBytes: 1000))
            seen.insert([reader.quantisers[1]?[0] ?? 0, reader.quantisers[2]?[0] ?? 0])
        }
        #expect(seen.count > 50)
    }

    @Test("is neither black nor white")
    func tone() throws {
        for number in 0..<20 {
            let mean = try JPEGReader(CoverImage.jpeg(number: number, aboutBytes: 9000)).meanLuma
            #expect(abs(mean) < 110)
        }
    }
}

@Suite("A generated PNG")
struct PNGImageTests {
    @Test("has whole chunks with right checksums", arguments: [0, 5000])
    func chunks(size: Int) throws {
        let bytes = CoverImage.png(number: 3, aboutBytes: size)
        if size > 0 { #expect(bytes.count == size) }
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        var rest = bytes[8...]
        var names: [String] = []
        while rest.count >= 12 {
            let length = Int(big(rest))
            let named = rest.dropFirst(4).prefix(4 + length)
            #expect(crc(named) == big(rest.dropFirst(8 + length)))
            names.append(String(decoding: named.prefix(4), as: UTF8.self))
            if names.last == "IDAT" { #expect(adler(named.dropFirst(4 + 7).dropLast(4)) == big(named.suffix(4))) }
            rest = rest.dropFirst(12 + length)
        }
        #expect(rest.isEmpty)
        #expect(names == ["IHDR", "tEXt", "IDAT", "IEND"])
        #expect(bytes != CoverImage.png(number: 4, aboutBytes: size))
    }

    private func big(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    private func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = (crc >> 1) ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~crc
    }

    private func adler(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let low = bytes.reduce(UInt32(1)) { ($0 + UInt32($1)) % 65521 }
        let high = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65521
            return (low, (sums.1 + low) % 65521)
        }
        return high.1 << 16 | low
    }
}
