import CommandSupport

/// A table of aligned columns, separated by two spaces.
struct TextTable {
    private let header: [String]
    private let numeric: Set<Int>
    private let rows: [[String]]
    private static let gap = 2
    private static let minimumWidth = 8

    /// - Parameters:
    ///   - header: The names of the columns; empty for none.
    ///   - numeric: The indices of the columns to align to the right.
    init(_ header: [String], _ rows: [[String]], numeric: Set<Int> = []) {
        self.header = header
        self.numeric = numeric
        self.rows = rows.map { $0.map(\.withoutControls) }
    }

    /// - Parameter width: The terminal's width in columns. The widest cells are truncated to fit; nil for no limit.
    func text(width: Int? = nil) -> String {
        let lines = (header.isEmpty ? [] : [header]) + rows
        var widths = (lines.first ?? []).indices.map { column in lines.map { $0[column].columns }.max() ?? 0 }
        if let width { Self.fit(&widths, into: width) }
        return lines.map { line(cells: $0, widths) + "\n" }.joined()
    }

    /// Narrows the widest columns until the row fits.
    private static func fit(_ widths: inout [Int], into width: Int) {
        var excess = widths.reduce(0, +) + gap * (widths.count - 1) - width
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > minimumWidth
        {
            widths[widest] -= 1
            excess -= 1
        }
    }

    private func line(cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let text = cell.columns > widths[column] ? cell.truncated(to: widths[column]) : cell
            let fill = String(repeating: " ", count: widths[column] - text.columns)
            line += numeric.contains(column) ? fill + text : text + fill
            line += String(repeating: " ", count: Self.gap)
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    /// The text's width in terminal columns.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    fileprivate func truncated(to width: Int) -> String {
        var (text, columns) = ("", 0)
        for character in self {
            columns += character.columns
            if columns > width - 1 { break }
            text.append(character)
        }
        return text + "…"
    }
}

extension Character {
    /// 2 for East Asian wide characters (Unicode Standard Annex 11) and emoji, else 1.
    fileprivate var columns: Int {
        guard let value = unicodeScalars.first?.value, value >= 0x1100 else { return 1 }
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
