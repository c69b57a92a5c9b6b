extension String {
    /// The text with control characters replaced. Lists and servers may send them, and a terminal would obey them.
    package var withoutControls: String {
        guard unicodeScalars.contains(where: { $0.isControl }) else { return self }
        return unicodeScalars.map { $0.isControl ? "\u{FFFD}" : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Includes the bidirectional controls (Unicode Standard Annex 9), which affect the text that follows.
    fileprivate var isControl: Bool {
        value < 0x20 || (value >= 0x7F && value < 0xA0) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F || value == 0x061C
    }
}
