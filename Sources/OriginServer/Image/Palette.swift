/// A colour; red, green and blue are 0 to 255.
struct Color: Sendable {
    var red: Float
    var green: Float
    var blue: Float

    init(_ hex: UInt32) {
        red = Float(hex >> 16 & 0xFF)
        green = Float(hex >> 8 & 0xFF)
        blue = Float(hex & 0xFF)
    }

    /// This colour with `share` (0 to 1) of another.
    func mixed(_ other: Color, _ share: Float) -> Color {
        var result = self
        result.red += (other.red - red) * share
        result.green += (other.green - green) * share
        result.blue += (other.blue - blue) * share
        return result
    }

    static let black = Color(0)
    static let white = Color(0xFFFFFF)
}

/// Five colours that go together, dark to light.
struct Palette: Sendable {
    let colors: [Color]

    private init(_ hexes: UInt32...) { colors = hexes.map { Color($0) } }

    subscript(_ index: Int) -> Color { colors[index % colors.count] }

    static let all: [Palette] = [
        Palette(0x264653, 0x2A9D8F, 0xE9C46A, 0xF4A261, 0xE76F51),
        Palette(0x1D2D50, 0x133B5C, 0x1E5F74, 0xFCDAB7, 0xF08A5D),
        Palette(0x2B1B3D, 0x6A2C70, 0xB83B5E, 0xF08A5D, 0xF9ED69),
        Palette(0x0B132B, 0x1C2541, 0x3A506B, 0x5BC0BE, 0xF2F7F2),
        Palette(0x3D0C11, 0xD80032, 0xF78CA2, 0xF9DEC9, 0xFFF4EC),
        Palette(0x22333B, 0x5E503F, 0xC6AC8F, 0xEAE0D5, 0xF4F1EA),
        Palette(0x10451D, 0x208B3A, 0x6EDE8A, 0xFFE66D, 0xFFF9DB),
        Palette(0x03045E, 0x0077B6, 0x00B4D8, 0x90E0EF, 0xFFB703),
        Palette(0x231942, 0x5E548E, 0x9F86C0, 0xBE95C4, 0xE0B1CB),
        Palette(0x14213D, 0x33415C, 0xFCA311, 0xE5E5E5, 0xFFFFFF),
        Palette(0x3A0CA3, 0x7209B7, 0xF72585, 0x4CC9F0, 0xF8F7FF),
        Palette(0x2D2A32, 0x484349, 0xDDD92A, 0xEAE151, 0xFAFDF6),
    ]
}
