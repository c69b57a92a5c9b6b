/// A stage on the way of a cover, in order. The raw values are the names in the report.
enum CoverStage: String, CaseIterable {
    case queue, name, connect, tls, firstByte, body, storeQueue, hash, append, sync, commit

    /// The stages from the start of the transfer to its last byte.
    static let transfer: [Self] = [.name, .connect, .tls, .firstByte, .body]
    /// The stages after the last byte.
    static let store: [Self] = [.storeQueue, .hash, .append, .sync, .commit]

    var title: String {
        switch self {
        case .tls: "TLS"
        case .firstByte: "first byte"
        case .storeQueue: "store queue"
        default: rawValue
        }
    }
}

/// Where the time of one cover went, in microseconds, by the names of stages. `end` is the commit, in microseconds since 1970;
/// transfers with the same `connection` shared one.
typealias StageTimes = [String: Int]

extension StageTimes {
    func sum(_ stages: [CoverStage]) -> Int { stages.reduce(0) { $0 + self[$1.rawValue, default: 0] } }

    /// When the last byte arrived, in microseconds since 1970.
    var received: Int { self["end", default: 0] - sum(CoverStage.store) }
}
