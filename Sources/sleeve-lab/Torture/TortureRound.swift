import Platform

/// The processes of one round, and what happens to them. It follows from the seed and the round's number, so that a run can be
/// repeated; the moments of the signals follow from it only as shares of durations.
struct TortureRound: Sendable, Equatable {
    /// Which claim the round can check.
    enum Kind: String, Sendable, CaseIterable {
        /// Nothing is evicted: every acknowledged cover must be there.
        case keep
        /// `sleeve evict` runs among the others: what is acknowledged after the last one must be there.
        case evict
        /// The capacity is too small for all covers: it must hold, and what is listed must be there.
        case full
    }

    struct Assignment: Sendable, Equatable {
        var job: TortureJob
        var fate: TortureFate
    }

    var number: Int
    var kind: Kind
    /// The cache's capacity in bytes.
    var capacity: Int
    /// The size that the cache is shrunk to before the round, in bytes: otherwise everything would be cached soon.
    var startBytes: Int
    /// The assignments that run one after the other, for each of the simultaneous processes.
    var lanes: [[Assignment]]

    /// The most disk space that the covers may take when the cache has been opened after the round, in bytes. A group may have been
    /// written when its process was killed.
    var coverLimit: Int { capacity + capacity / 16 }

    /// In bytes: far more than all covers take.
    static let ampleCapacity = 32 << 20
    /// In bytes: a fourth of what all covers take, and more than a group with the largest of them.
    static let smallCapacity = 2 << 20
    private static let jobsOfLane = 6
    private static let listLengths = 50...300
    private static let pauses = 10...500

    /// - Parameters:
    ///   - covers: The number of covers in the catalog.
    ///   - bytes: Their length together.
    init(number: Int, seed: UInt64, processes: Int, covers: Int, bytes: Int) {
        var random = SplitMix64(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
        self.number = number
        kind = Self.pick([(.keep, 50), (.evict, 25), (.full, 25)], &random)
        capacity = kind == .full ? Self.smallCapacity : Self.ampleCapacity
        startBytes = Int.random(in: 0...bytes / 2, using: &random)
        lanes = (0..<processes).map { _ in [] }
        for lane in lanes.indices {
            for index in 0..<Self.jobsOfLane {
                // No eviction late in the round: covers that are acknowledged after the last one can be claimed.
                let mayEvict = kind == .full || kind == .evict && index < Self.jobsOfLane / 2
                let job = Self.job(
                    mayEvict: mayEvict, mayPin: kind != .full, covers: covers, bytes: bytes, &random)
                lanes[lane].append(Assignment(job: job, fate: Self.fate(&random)))
            }
        }
    }

    /// - Parameter mayPin: Pinned covers fit into the capacity.
    private static func job(
        mayEvict: Bool, mayPin: Bool, covers: Int, bytes: Int, _ random: inout SplitMix64
    ) -> TortureJob {
        let kind: TortureJob.Kind = pick(
            [
                (.prefetch, 50), (.refresh, 10), (.verify, 6), (.repair, 10), (.evict, mayEvict ? 15 : 0),
                (.remove, mayEvict ? 5 : 0), (.pin, mayPin ? 5 : 0), (.unpin, 3), (.pack, 4), (.unpack, 2),
                (.list, 8), (.get, 10),
            ], &random)
        switch kind {
        case .prefetch:
            // Processes often want the same covers, some of them twice.
            let length = Int.random(in: listLengths, using: &random)
            return .prefetch(covers: (0..<length).map { _ in Int.random(in: 0..<covers, using: &random) })
        case .refresh: return .refresh
        case .verify: return .verify
        case .repair: return .repair
        case .evict: return .evict(bytes: Int.random(in: 0...bytes, using: &random))
        case .remove: return .remove(digit: Int.random(in: 0...9, using: &random))
        case .pin: return .pin(digit: Int.random(in: 0...9, using: &random))
        case .unpin: return .unpin
        case .pack: return .pack
        case .unpack: return .unpack
        case .list: return .list
        case .get: return .get(cover: Int.random(in: 0..<covers, using: &random))
        }
    }

    private static func fate(_ random: inout SplitMix64) -> TortureFate {
        let moment = Double.random(in: 0...1, using: &random)
        let pause = Duration.milliseconds(Int.random(in: pauses, using: &random))
        return pick(
            [(.killed(moment: moment), 65), (.stopped(moment: moment, pause: pause), 15), (.undisturbed, 20)], &random)
    }

    /// A value, as often as its weight says.
    private static func pick<Value>(_ weighted: [(value: Value, weight: Int)], _ random: inout SplitMix64) -> Value {
        var rest = Int.random(in: 0..<weighted.reduce(0) { $0 + $1.weight }, using: &random)
        for (value, weight) in weighted {
            if rest < weight { return value }
            rest -= weight
        }
        return weighted[0].value
    }
}
