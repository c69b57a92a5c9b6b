import ArgumentParser

/// A duration as an option gives it: `90s`, `30m`, `12h`, `7d`, `2w`. A number without a unit is in seconds.
package struct TimeSpan: ExpressibleByArgument, Equatable {
    package var duration: Duration

    package init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument[...] : argument.dropLast()), number >= 0,
            number * (unit ?? 1) < 1e9
        else { return nil }
        duration = .milliseconds(Int(number * (unit ?? 1) * 1_000))
    }
}
