import ArgumentParser

/// A connection to measure over: loopback, or an emulated link.
struct BenchLink: ExpressibleByArgument, Sendable {
    let name: String
    /// In bits a second; nil for loopback.
    let capacity: Double?

    /// - Parameter argument: `loopback`, or a round-trip time and a bandwidth, such as `50ms/200mbit`, whose limits
    ///   `sleeve-lab origin` checks.
    init?(argument: String) {
        name = argument.lowercased()
        if name == "loopback" {
            capacity = nil
            return
        }
        let units = ["kbit": 1e3, "mbit": 1e6, "gbit": 1e9]
        let bandwidth = name.split(separator: "/").last ?? ""
        guard name.contains("s/"), let unit = units[String(bandwidth.suffix(4))],
            let number = Double(bandwidth.dropLast(4))
        else { return nil }
        capacity = number * unit
    }

    /// The options of `sleeve-lab origin`.
    var options: [String] { capacity == nil ? [] : ["--link", name] }
}

/// The protocol of the bench's built-in origin.
enum BenchProtocol: String, CaseIterable, ExpressibleByArgument {
    case http, https

    var title: String {
        switch self {
        case .http: "HTTP/1.1"
        case .https: "HTTP/2"
        }
    }
}
