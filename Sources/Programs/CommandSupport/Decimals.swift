import ArgumentParser
import Platform

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

/// A number of bytes as an option gives it: `500M`, `1.5 GiB`, `20000`. K, M, G and T are powers of 1024.
package struct ByteSize: ExpressibleByArgument, Equatable, CustomStringConvertible {
    package var bytes: Int

    package init(_ bytes: Int) { self.bytes = bytes }

    package init?(argument: String) {
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

    /// - Parameter option: whose value this is.
    /// - Throws: `ValidationError` if no cover fits into a cache of this size.
    package func requireRoom(_ option: String) throws {
        guard bytes >= 4_096 else {
            throw ValidationError("\(option) must be at least 4K; a number without K, M, G or T is in bytes")
        }
    }

    /// Three digits and a unit: `31.4 KiB`, `10 GiB`.
    package var description: String { ByteCount(bytes).description }
}

/// A duration as an option gives it: `90s`, `30m`, `12h`, `7d`, `2w`, or 0. What a number without a unit means, each person knows otherwise.
package struct TimeSpan: Equatable {
    package var duration: Duration

    /// - Throws: `ValidationError`, which says what to write.
    package init(_ argument: String) throws {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        if let number = Double(argument), number > 0 {
            throw ValidationError("it needs a unit, such as \(argument)s, \(argument)m, \(argument)h or \(argument)d.")
        }
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument[...] : argument.dropLast()), number >= 0,
            number * (unit ?? 1) < 1e9
        else { throw ValidationError("write a time such as 90s, 30m, 12h, 7d or 2w.") }
        duration = .milliseconds(Int(number * (unit ?? 1) * 1_000))
    }

    /// The seconds of an option whose numbers without a unit are seconds.
    package static func seconds(_ argument: String) throws -> Double {
        try Double(argument) ?? TimeSpan(argument).duration / .seconds(1)
    }
}

/// The host and the port that an option names: `0.0.0.0`, `0.0.0.0:80`, `::1`, `[::1]:80` or `nas.local:80`; nil if the text is malformed.
package func hostAndPort(_ text: String) -> (host: String, port: Int?)? {
    if text.hasPrefix("[") {
        guard let end = text.firstIndex(of: "]") else { return nil }
        let host = String(text[text.index(after: text.startIndex)..<end])
        let rest = text[text.index(after: end)...]
        if rest.isEmpty { return (host, nil) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
        return (host, Int(port))
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    switch parts.count {
    case 1: return text.isEmpty ? nil : (text, nil)
    case 2: return UInt16(parts[1]).flatMap { parts[0].isEmpty ? nil : (String(parts[0]), Int($0)) }
    default: return (text, nil)
    }
}
