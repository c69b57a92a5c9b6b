/// A stage on the way of a cover, in order. The raw values are the names in the report.
enum CoverStage: String, CaseIterable, CodingKey {
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

/// Where the time of one cover went, in microseconds.
struct StageTimes: Decodable, Sendable, Equatable {
    private var durations: [Int]
    /// The commit, in microseconds since 1970.
    var end: Int
    /// Transfers with the same number shared a connection.
    var connection: Int

    init(_ durations: [CoverStage: Int], end: Int, connection: Int = 0) {
        self.durations = CoverStage.allCases.map { durations[$0] ?? 0 }
        self.end = end
        self.connection = connection
    }

    init(from decoder: any Decoder) throws {
        let stages = try decoder.container(keyedBy: CoverStage.self)
        durations = try CoverStage.allCases.map { try stages.decode(Int.self, forKey: $0) }
        let others = try decoder.container(keyedBy: Other.self)
        end = try others.decode(Int.self, forKey: .end)
        connection = try others.decode(Int.self, forKey: .connection)
    }

    private enum Other: CodingKey { case end, connection }

    subscript(stage: CoverStage) -> Int { durations[stage.index] }

    func sum(_ stages: [CoverStage]) -> Int { stages.reduce(0) { $0 + self[$1] } }

    /// When the last byte arrived, in microseconds since 1970.
    var received: Int { end - sum(CoverStage.store) }
}

extension CoverStage {
    fileprivate var index: Int { Self.allCases.firstIndex(of: self)! }
}
