import ArgumentParser
import OriginServer

/// A connection to measure over: loopback, or an emulated link.
struct BenchLink: ExpressibleByArgument, Sendable {
    var name: String
    /// Nil for loopback.
    var model: LinkModel?

    /// - Parameter argument: `loopback`, or a round-trip time and a bandwidth, such as `50ms/200mbit`.
    init?(argument: String) {
        name = argument.lowercased()
        if name == "loopback" { return }
        guard let model = try? LinkModel(name) else { return nil }
        self.model = model
    }

    /// In bits a second; nil if it is not limited.
    var capacity: Double? { model.map { Double($0.bitsPerSecond) } }

    /// The options of `sleeve origin`.
    var options: [String] { model == nil ? [] : ["--link", name] }
}

/// The protocol of the bench's own origin.
enum BenchProtocol: String, CaseIterable, ExpressibleByArgument {
    case http, https

    var title: String {
        switch self {
        case .http: "HTTP/1.1"
        case .https: "HTTP/2"
        }
    }
}
