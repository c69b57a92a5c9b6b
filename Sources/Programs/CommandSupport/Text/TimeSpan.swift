import ArgumentParser

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
