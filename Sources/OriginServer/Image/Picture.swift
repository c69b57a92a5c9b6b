/// The part of a JPEG that does not depend on a cover's number: frame, Huffman tables, scan.
///
/// No pixel is ever computed. A block's DC coefficients come from the drawing at one point in eight pixels, its first AC
/// coefficients from the neighbours' DC (which makes slopes smooth), and the rest is film grain: small coefficients added
/// until the picture has the size asked for. So an encoder without a DCT makes a real picture, quickly even in a debug build.
///
/// The file a cover is sent as: `SOI · APP0 · COM (who it is) · DQT ×3 (its colours) · ` this tail.
struct Picture: Sendable {
    /// Width and height in pixels.
    let side: Int
    /// From SOF0 to EOI.
    let tail: [UInt8]

    /// The most pixels a side has.
    static let largestSide = 1200

    /// - Parameters:
    ///   - seed: what is drawn.
    ///   - byteCount: how long the tail is to be. It comes out within a few per cent for 500 bytes to about 400 KB.
    init(seed: UInt64, byteCount: Int) {
        let headers = 33 + 2 * 33 + 2 * 183 + 14 + 2
        let budget = max(400, (byteCount - headers) * 8)
        let blocks = max(2, min(Self.largestSide / 8, Int((Float(budget) / 55).squareRoot())))
        side = blocks * 8
        var tail = Self.frame(side: side)
        tail += HuffmanTable.lumaDC.segment(kind: 0x00) + HuffmanTable.lumaAC.segment(kind: 0x10)
        tail += HuffmanTable.chromaDC.segment(kind: 0x01) + HuffmanTable.chromaAC.segment(kind: 0x11)
        tail += [0xFF, 0xDA, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0]
        var scan = Scan(mosaic: Mosaic(Drawing(seed: seed), side: blocks), budget: budget, seed: seed)
        tail += scan.encoded()
        self.tail = tail + [0xFF, 0xD9]
    }

    /// SOF0: baseline, eight bits, three components with no subsampling and a quantisation table each.
    private static func frame(side: Int) -> [UInt8] {
        let high = UInt8(side >> 8)
        let low = UInt8(side & 0xFF)
        return [0xFF, 0xC0, 0, 17, 8, high, low, high, low, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 2]
    }
}

/// The entropy-coded scan of one picture.
private struct Scan {
    let mosaic: Mosaic
    /// How many bits it is to have.
    let budget: Int
    var grain: SplitMix
    var coder: EntropyCoder
    let lumaDC = HuffmanTable.lumaDC
    let lumaAC = HuffmanTable.lumaAC
    let chromaDC = HuffmanTable.chromaDC
    let chromaAC = HuffmanTable.chromaAC

    init(mosaic: Mosaic, budget: Int, seed: UInt64) {
        self.mosaic = mosaic
        self.budget = budget
        grain = SplitMix(seed: ~seed)
        coder = EntropyCoder(reserving: budget / 8 + 1024)
    }

    mutating func encoded() -> [UInt8] {
        let side = mosaic.side
        var left = side * side
        var before = (luma: 0, blue: 0, red: 0)
        for row in 0..<side {
            for column in 0..<side {
                let start = coder.bitCount
                let allowance = (budget - start) / left
                left -= 1
                let place = row * side + column
                let isSmooth = allowance >= 30

                // Luma comes first in a block, so what the chroma will need is set aside.
                coder.dc(difference: mosaic.luma[place] - before.luma, lumaDC)
                before.luma = mosaic.luma[place]
                var zeros = 5
                if isSmooth { zeros = slopes(of: mosaic.luma, row, column, lumaAC) }
                let isFull = addGrain(after: zeros, until: start + allowance - (isSmooth ? 16 : 10))
                if !isFull { coder.endOfBlock(lumaAC) }

                coder.dc(difference: mosaic.blue[place] - before.blue, chromaDC)
                before.blue = mosaic.blue[place]
                if isSmooth { _ = slopes(of: mosaic.blue, row, column, chromaAC) }
                coder.endOfBlock(chromaAC)

                coder.dc(difference: mosaic.red[place] - before.red, chromaDC)
                before.red = mosaic.red[place]
                if isSmooth { _ = slopes(of: mosaic.red, row, column, chromaAC) }
                coder.endOfBlock(chromaAC)
            }
        }
        return coder.finish()
    }

    /// Writes the first five AC coefficients as the neighbours' DC suggests (T.81, K.8: meant for decoders, it serves
    /// here as the drawing's slope). Gives back how many zeros stand open.
    private mutating func slopes(of plane: [Int], _ row: Int, _ column: Int, _ table: HuffmanTable) -> Int {
        let side = mosaic.side
        let above = max(0, row - 1) * side
        let here = row * side
        let below = min(side - 1, row + 1) * side
        let left = max(0, column - 1)
        let right = min(side - 1, column + 1)
        let center = plane[here + column]
        let west = plane[here + left]
        let east = plane[here + right]
        let north = plane[above + column]
        let south = plane[below + column]
        var zeros = 0
        func put(_ scaled: Int) {
            // The factors are over 256, and the quantiser of these coefficients is 5 where DC has 8.
            let level = scaled * 8 / (256 * 5)
            if level == 0 {
                zeros += 1
            } else {
                coder.ac(run: zeros, level: level, table)
                zeros = 0
            }
        }
        put(36 * (west - east))
        put(36 * (north - south))
        put(9 * (north + south - 2 * center))
        put(5 * (plane[above + left] - plane[above + right] - plane[below + left] + plane[below + right]))
        put(9 * (west + east - 2 * center))
        return zeros
    }

    /// Adds small coefficients until `limit` bits are written. True if the last coefficient was set, so that the block
    /// needs no end mark.
    private mutating func addGrain(after zeros: Int, until limit: Int) -> Bool {
        var zeros = zeros
        // The first five are the slopes', or zero; grain leaves them alone.
        var place = 6
        if coder.bitCount >= limit { return false }
        var bits = grain.next()
        while place < 64, coder.bitCount < limit {
            if bits < 16 { bits = grain.next() }
            let skipped = Int(bits & 1)
            guard place + skipped < 64 else { return false }
            let isLarge = bits & 0b1110 == 0
            let level = (bits & 0b1_0000 == 0 ? 1 : -1) * (isLarge ? 2 : 1)
            bits >>= 5
            coder.ac(run: zeros + skipped, level: level, lumaAC)
            zeros = 0
            place += skipped + 1
        }
        return place == 64
    }
}
