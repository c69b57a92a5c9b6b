/// An emulated link: a delay, a bandwidth that all connections share, and losses.
///
/// Both directions have the same bandwidth, each its own. It counts the bytes that TCP carries, not packet headers, and
/// acknowledgements take none of it.
package struct LinkModel: Sendable, Equatable {
    /// The round-trip time of an empty link.
    package var roundTrip: Duration
    /// The bandwidth of each direction, in bits per second.
    package var bitsPerSecond: Int
    /// The probability that a segment is lost, from 0 to 0.5.
    package var loss = 0.0
    /// The seed of the generator that decides which segments are lost.
    package var seed: UInt64 = 1

    package init(roundTrip: Duration, bitsPerSecond: Int) {
        self.roundTrip = roundTrip
        self.bitsPerSecond = bitsPerSecond
    }

    /// Parses `RTT/BANDWIDTH`, such as `50ms/200mbit`.
    ///
    /// - Throws: `LinkError.invalidValue` if `text` has another form, or if the round-trip time is not from 1 ms to 10 s
    ///   or the bandwidth not from 10 kbit to 10 Gbit per second.
    package init(_ text: String) throws(LinkError) {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            let seconds = Self.number(parts[0], units: [("ms", 1e-3), ("s", 1)]), (0.001...10).contains(seconds),
            let bits = Self.number(parts[1], units: [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)]),
            (10_000...10_000_000_000).contains(bits)
        else {
            throw .invalidValue(
                name: "link", value: text,
                expected: "a round-trip time (1ms to 10s) and a bandwidth (10kbit to 10gbit), such as 50ms/200mbit")
        }
        self.init(roundTrip: .seconds(seconds), bitsPerSecond: Int(bits))
    }

    /// Sets `loss` from a percentage, such as `1%` or `0.5`.
    ///
    /// - Throws: `LinkError.invalidValue` if it is not from 0 to 50 %.
    package mutating func setLoss(_ text: String) throws(LinkError) {
        guard let percent = Double(text.hasSuffix("%") ? text.dropLast() : text[...]), (0...50).contains(percent) else {
            throw .invalidValue(name: "loss", value: text, expected: "a percentage from 0 to 50, such as 1%")
        }
        loss = percent / 100
    }

    /// The time from one end to the other, without the transmission.
    var delay: Duration { roundTrip / 2 }

    /// The time that the bottleneck needs for `bytes`.
    func transmissionTime(_ bytes: Int) -> Duration { .nanoseconds(bytes * 8_000_000_000 / bitsPerSecond) }

    private static func number(_ text: Substring, units: [(suffix: String, factor: Double)]) -> Double? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
            let number = Double(text.dropLast(unit.suffix.count))
        else { return nil }
        return number * unit.factor
    }
}
