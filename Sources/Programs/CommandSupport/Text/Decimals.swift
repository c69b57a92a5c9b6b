/// Formats numbers without the start-up time of Foundation's formatters.
package enum Decimals {
    /// `value` with this number of digits after the decimal point; `-` if it is not finite.
    package static func text(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "-" }
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        if digits == 0 { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return sign + "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// The number with thousands separators: `1,234,567`.
    package static func grouped(_ value: Int) -> String {
        var digits = Array(String(abs(value)))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return (value < 0 ? "-" : "") + String(digits)
    }

    /// A number and its noun, in the singular for 1: `1 cover`, `1,234 covers`.
    package static func count(_ value: Int, _ singular: String, _ plural: String? = nil) -> String {
        value == 1 ? "1 \(singular)" : "\(grouped(value)) \(plural ?? singular + "s")"
    }
}
