/// Writes quantised DCT coefficients as the entropy-coded bytes of a baseline JPEG (ITU-T T.81, Annex F.1.2).
struct EntropyCoder {
    /// The bytes so far; up to seven bits more are held back until `finish()`.
    private(set) var bytes: [UInt8] = []
    private var accumulator: UInt64 = 0
    private var pending = 0

    init(reserving byteCount: Int) { bytes.reserveCapacity(byteCount) }

    /// How many bits have been written, stuffing included.
    var bitCount: Int { bytes.count * 8 + pending }

    /// Writes a DC coefficient as its difference to the block before.
    mutating func dc(difference: Int, _ table: HuffmanTable) {
        let size = Self.size(of: difference)
        put(table.codes[size], table.lengths[size])
        if size > 0 { put(Self.extra(difference, size), size) }
    }

    /// Writes a coefficient `level` (not 0) after `run` zeros.
    mutating func ac(run: Int, level: Int, _ table: HuffmanTable) {
        var run = run
        while run > 15 {
            put(table.codes[0xF0], table.lengths[0xF0])
            run -= 16
        }
        let size = Self.size(of: level)
        let symbol = run << 4 | size
        put(table.codes[symbol], table.lengths[symbol])
        put(Self.extra(level, size), size)
    }

    /// Says that the rest of the block is zero.
    mutating func endOfBlock(_ table: HuffmanTable) { put(table.codes[0], table.lengths[0]) }

    /// Fills the last byte with ones, as the standard asks, and gives the bytes up.
    mutating func finish() -> [UInt8] {
        if pending > 0 { put((1 << UInt32(8 - pending)) - 1, 8 - pending) }
        return bytes
    }

    /// Appends the low `count` bits of `bits`. A byte of 0xFF is followed by a zero so that it is no marker.
    private mutating func put(_ bits: UInt32, _ count: Int) {
        accumulator = accumulator << UInt64(count) | UInt64(bits)
        pending += count
        while pending >= 8 {
            pending -= 8
            let byte = UInt8(truncatingIfNeeded: accumulator >> UInt64(pending))
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
    }

    /// How many bits the magnitude of `value` takes: the coefficient's category.
    private static func size(of value: Int) -> Int { Int.bitWidth - value.magnitude.leadingZeroBitCount }

    /// The bits that tell a value from the others of its category: negative ones are written as one less.
    private static func extra(_ value: Int, _ size: Int) -> UInt32 {
        UInt32(value < 0 ? value + (1 << size) - 1 : value)
    }
}
