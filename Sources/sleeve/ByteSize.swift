import ArgumentParser

/// A size: `500M`, `1.5 GiB`, `20000`. K, M, G and T are powers of 1024.
struct ByteSize: ExpressibleByArgument, Equatable, CustomStringConvertible {
    var bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        let text = argument.lowercased().filter { $0 != " " }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let powers = ["": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4]
        var unit = text.dropFirst(digits.count)
        if unit.hasSuffix("ib") {
            unit = unit.dropLast(2)
        } else if unit.count == 2, unit.hasSuffix("b") {
            unit = unit.dropLast()
        }
        guard let number = Double(digits), let power = powers[String(unit)] else { return nil }
        let size = (0..<power).reduce(number) { size, _ in size * 1_024 }
        guard size >= 0, size < 9e18 else { return nil }
        bytes = Int(size)
    }

    var defaultValueDescription: String { description }

    /// Three digits and a unit: `31.4 KB`, `1.20 GB`; a whole number without its zeros: `10 GB`.
    var description: String {
        var size = Double(bytes)
        var units = ["B", "KB", "MB", "GB", "TB"][...]
        while size >= 1_000, units.count > 1 {
            size /= 1_024
            units = units.dropFirst()
        }
        if units.startIndex == 0 { return "\(bytes) B" }
        let digits = size == size.rounded() || size >= 100 ? 0 : size < 10 ? 2 : 1
        return "\(Decimals.text(size, digits)) \(units.first ?? "")"
    }
}

/// Formats numbers without a formatter's start-up time.
enum Decimals {
    /// `value` with this number of digits after the point.
    static func text(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "-" }
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        if digits == 0 { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return sign + "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// `1,234,567`.
    static func grouped(_ value: Int) -> String {
        var digits = Array(String(abs(value)))
        var position = digits.count - 3
        while position > 0 {
            digits.insert(",", at: position)
            position -= 3
        }
        return (value < 0 ? "-" : "") + String(digits)
    }
}
