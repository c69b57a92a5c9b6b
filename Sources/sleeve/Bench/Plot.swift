import CommandSupport

/// Plots as inline SVG. Colours are classes of the page, which follow the reader's light or dark scheme.
enum Plot {
    private static let width = 560.0
    private static let left = 44.0
    private static let right = 12.0
    private static let top = 10.0
    private static let axis = 26.0

    /// A filled curve of values at equal distances, from 0.
    /// - Parameters:
    ///   - x, y: The units of the axes.
    ///   - limit: A horizontal line, with its label.
    static func area(
        _ series: BenchResult.Series, x: String, y: String, title: String, limit: (value: Double, label: String)? = nil
    ) -> String {
        let height = 200.0
        let maximum = ceiling(max(series.values.max() ?? 0, limit?.value ?? 0))
        let span = series.step * Double(series.values.count)
        let (plotWidth, plotHeight) = (width - left - right, height - top - axis)
        func vertical(_ value: Double) -> Double { top + plotHeight * (1 - value / maximum) }
        var points: [String] = []
        for (index, value) in series.values.enumerated() {
            for edge in [index, index + 1] {
                let position = left + plotWidth * Double(edge) / Double(series.values.count)
                points.append("\(number(position)),\(number(vertical(value)))")
            }
        }
        let base = number(top + plotHeight)
        var body = grid(maximum, span, x: x, y: y, height: height)
        body +=
            "<polygon class=\"area\" points=\"\(number(left)),\(base) \(points.joined(separator: " ")) \(number(width - right)),\(base)\"/>"
        if let limit {
            let position = vertical(limit.value)
            body +=
                "<line class=\"limit\" x1=\"\(number(left))\" x2=\"\(number(width - right))\" y1=\"\(number(position))\" y2=\"\(number(position))\"/>"
            body += text(limit.label, width - right - 4, position + 13, "end")
        }
        return svg(body, height: height, title: title)
    }

    private static func grid(_ maximum: Double, _ span: Double, x: String, y: String, height: Double) -> String {
        let (plotWidth, plotHeight) = (width - left - right, height - top - axis)
        var body = ""
        for part in 0...4 {
            let share = Double(part) / 4
            let position = top + plotHeight * (1 - share)
            body +=
                "<line class=\"grid\" x1=\"\(number(left))\" x2=\"\(number(width - right))\" y1=\"\(number(position))\" y2=\"\(number(position))\"/>"
            body += text(label(maximum * share), left - 6, position + 4, "end")
            let anchor = part == 0 ? "start" : part == 4 ? "end" : "middle"
            let unit = part == 4 ? " \(x)" : ""
            body += text(label(span * share) + unit, left + plotWidth * share, height - 8, anchor)
        }
        return body + text(y, left + 6, top + 12, "start")
    }

    /// The stages of a cover, one below the other, each beginning where the one before it ends on average. A thin line extends to
    /// the 95th percentile. The wait for a turn is not drawn to scale: it is as long as the list.
    static func waterfall(_ stages: [BenchResult.Stage], title: String) -> String {
        let rows = stages.filter { $0.name != CoverStage.queue.rawValue && max($0.mean, $0.p95) >= 0.005 }
        let (label, note, row) = (92.0, 144.0, 24.0)
        var (begin, end) = (0.0, 0.0)
        for stage in rows {
            end = max(end, begin + max(stage.mean, stage.p95))
            begin += stage.mean
        }
        let scale = (width - label - note) / max(end, 1e-9)
        var (body, offset, position) = ("", 0.0, top)
        for stage in rows {
            let kind =
                CoverStage(rawValue: stage.name).map { CoverStage.store.contains($0) } == true ? "store" : "transfer"
            let (start, middle) = (label + offset * scale, position + row / 2)
            body += text(CoverStage(rawValue: stage.name)?.title ?? stage.name, label - 8, middle + 4, "end")
            body +=
                "<line class=\"\(kind) whisker\" x1=\"\(number(start))\" x2=\"\(number(start + stage.p95 * scale))\" y1=\"\(number(middle))\" y2=\"\(number(middle))\"/>"
            body +=
                "<rect class=\"\(kind)\" x=\"\(number(start))\" y=\"\(number(position + 4))\" width=\"\(number(max(1, stage.mean * scale)))\" height=\"\(number(row - 8))\" rx=\"2\"/>"
            body += text("\(milliseconds(stage.mean)) (\(milliseconds(stage.p95)))", width - 2, middle + 4, "end")
            offset += stage.mean
            position += row
        }
        return svg(body, height: position + top, title: title)
    }

    /// One bar for each value, with a whisker from the smallest to the largest round.
    /// - Parameter reference: A vertical line.
    static func bars(
        _ values: [(label: String, spread: Spread, note: String)], reference: Double? = nil, title: String
    ) -> String {
        // A character is 7 wide.
        let label = Double(values.map { $0.label.count }.max() ?? 0) * 7 + 14
        let note = Double(values.map { $0.note.count }.max() ?? 0) * 7 + 14
        let row = 26.0
        let maximum = max(values.map(\.spread.maximum).max() ?? 0, reference ?? 0, 1e-9)
        let scale = (width - label - note) / maximum
        var (body, position) = ("", top)
        let height = top * 2 + row * Double(values.count)
        for value in values {
            let middle = position + row / 2
            body += text(value.label, label - 8, middle + 4, "end")
            body +=
                "<rect class=\"transfer\" x=\"\(number(label))\" y=\"\(number(position + 4))\" width=\"\(number(max(1, value.spread.median * scale)))\" height=\"\(number(row - 8))\" rx=\"2\"/>"
            body +=
                "<line class=\"range\" x1=\"\(number(label + value.spread.minimum * scale))\" x2=\"\(number(label + value.spread.maximum * scale))\" y1=\"\(number(middle))\" y2=\"\(number(middle))\"/>"
            body += text(value.note, width - 2, middle + 4, "end")
            position += row
        }
        if let reference {
            let x = number(label + reference * scale)
            body +=
                "<line class=\"limit\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(number(top))\" y2=\"\(number(height - top))\"/>"
        }
        return svg(body, height: height, title: title)
    }

    // MARK: Elements

    private static func svg(_ body: String, height: Double, title: String) -> String {
        "<svg viewBox=\"0 0 \(number(width)) \(number(height))\" role=\"img\" aria-label=\"\(title.escapedForHTML)\">\(body)</svg>"
    }

    private static func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(text.escapedForHTML)</text>"
    }

    private static func number(_ value: Double) -> String { Decimals.text(value, 1) }

    private static func milliseconds(_ value: Double) -> String { label(value) + " ms" }

    /// Two or three digits.
    static func label(_ value: Double) -> String {
        if value >= 1_000 { return Decimals.grouped(Int(value.rounded())) }
        if value == 0 || value >= 20 { return Decimals.text(value, 0) }
        return Decimals.text(value, value >= 1 ? 1 : value >= 0.1 ? 2 : value >= 0.01 ? 3 : 4)
    }

    /// The next of 1, 2, 4, 8, 10, 20… that is at least `value`: its quarters have few digits.
    static func ceiling(_ value: Double) -> Double {
        var power = 1e-6
        while power * 10 < value { power *= 10 }
        return [1, 2, 4, 8, 10].map { $0 * power }.first { $0 >= value } ?? 1
    }
}

extension String {
    /// The text with the characters escaped that HTML gives a meaning.
    var escapedForHTML: String {
        var text = ""
        for character in self {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
        return text
    }
}
