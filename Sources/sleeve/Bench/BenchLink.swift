import ArgumentParser

/// A connection to measure over: loopback, or a link with a delay and a bandwidth, which `sleeve origin` emulates.
struct BenchLink: ExpressibleByArgument, Hashable, Sendable {
    /// The round-trip time and the bandwidth as `sleeve origin --link` takes them; nil for loopback.
    var emulated: String?
    /// In bits a second; nil if it is not limited.
    var capacity: Double?

    static let loopback = Self(emulated: nil, capacity: nil)

    init(emulated: String?, capacity: Double?) {
        self.emulated = emulated
        self.capacity = capacity
    }

    /// `loopback`, or a round-trip time and a bandwidth: `50ms/200mbit`.
    init?(argument: String) {
        if argument == "loopback" {
            self = .loopback
            return
        }
        let parts = argument.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix("ms"), let delay = Double(parts[0].dropLast(2)), delay >= 0 else {
            return nil
        }
        for (unit, factor) in [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)] where parts[1].hasSuffix(unit) {
            guard let number = Double(parts[1].dropLast(unit.count)), number > 0 else { return nil }
            self.init(emulated: argument.lowercased(), capacity: number * factor)
            return
        }
        return nil
    }

    var description: String { emulated ?? "loopback" }
}

/// The protocol of the bench's own origin.
enum BenchProtocol: String, CaseIterable, ExpressibleByArgument {
    case http, https

    var title: String {
        switch self {
        case .http: "HTTP/1.1"
        case .https: "HTTPS, HTTP/2"
        }
    }
}
