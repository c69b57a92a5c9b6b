/// A drawing at one point per block, as quantised DC coefficients.
struct Mosaic: Sendable {
    /// Blocks in a row, and rows.
    let side: Int
    /// Row by row.
    private(set) var luma: [Int] = []
    private(set) var blue: [Int] = []
    private(set) var red: [Int] = []

    /// The quantiser of the DC coefficients. A flat block's DC is eight times its level (128 being none), so it is the level.
    static let quantiser: UInt8 = 8

    init(_ drawing: Drawing, side: Int) {
        self.side = side
        luma.reserveCapacity(side * side)
        blue.reserveCapacity(side * side)
        red.reserveCapacity(side * side)
        let step = 1 / Float(side)
        for row in 0..<side {
            for column in 0..<side {
                // Two points a block on the diagonal: edges become steps instead of teeth, at half the cost of four.
                let x = Float(column) * step
                let y = Float(row) * step
                let color = drawing.color(x + 0.25 * step, y + 0.25 * step)
                    .mixed(drawing.color(x + 0.75 * step, y + 0.75 * step), 0.5)
                add(color)
            }
        }
    }

    /// JFIF 1.02's conversion (ITU-R BT.601, full range).
    private mutating func add(_ color: Color) {
        let level = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue
        luma.append(Self.whole(level - 128))
        blue.append(Self.whole((color.blue - level) * 0.564))
        red.append(Self.whole((color.red - level) * 0.713))
    }

    private static func whole(_ value: Float) -> Int { Int(max(-127, min(127, value.rounded()))) }
}
