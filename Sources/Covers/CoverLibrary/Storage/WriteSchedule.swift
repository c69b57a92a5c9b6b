/// Decides when what was put is sealed, synced and committed. A pure value without clock or disk; `PersistencyManager` acts on it.
///
///     gathering  →  syncing  →  synced  →  committed
///
/// - Covers gather in a group. It is sealed when it is large or has waited, or nothing else is coming, and only while no other is
///   syncing: there is one sync at a time.
/// - Groups grow while the disk is busy: one gathers for twice as long as the last sync took. A sync waits for what other programs
///   have written as well, so fewer of them cost less.
/// - Synced groups are committed together, in the order of sealing: a transaction writes whole pages however few rows change. They
///   wait for others only while others are coming, and no cover waits for longer than a second.
/// - Results without a body (*renewals*) need no sync. They wait for each other only.
struct WriteSchedule<Item, Renewed, Group> {
    typealias Instant = ContinuousClock.Instant

    struct Sealed {
        var id: Int
        var group: Group
        var covers: [Item]
        /// Length in bytes.
        var bytes: Int
        /// When its first cover was put.
        var since: Instant
        var sealedAt: Instant
    }

    /// The next step.
    enum Step: Equatable {
        /// Commit the renewals: `takeRenewals`.
        case renew
        /// Seal the group that gathers, and sync it: `didSeal`, later `didSync`.
        case seal
        /// Commit the synced groups: `takeSynced`.
        case commit
        /// Nothing before this time; nil for nothing before another event.
        case wait(until: Instant?)
    }

    /// Longest time that a cover waits for others while the disk is quick.
    static var delay: Duration { .milliseconds(20) }
    /// Longest time that a group gathers while no other syncs, or that a synced cover waits for the commit of others.
    static var maximumDelay: Duration { .seconds(1) }
    /// A group of this size, in bytes, waits no longer while the disk is quick.
    static var minimumGroup: Int { 2 << 20 }
    /// A group of this size, in bytes, waits no longer, however slow the disk is.
    static var largeGroup: Int { 16 << 20 }
    /// Maximum number of covers in a group, and of renewals in a transaction: both are held in memory.
    static var maximumCount: Int { 4_096 }

    private var gathering: [Item] = []
    /// Length of the group that gathers, in bytes.
    private var gatheringBytes = 0
    private var gatheringSince: Instant?
    private var renewals: [Renewed] = []
    private var renewingSince: Instant?
    private(set) var syncing: Sealed?
    private var synced: [Sealed] = []
    private var sealedCount = 0
    /// How long a group gathers: twice as long as the last sync took, within bounds.
    private var patience = Self.delay
    /// Nothing else is coming: what is here need not wait for others.
    private var isEnding = false
    /// Someone waits for everything to be committed.
    var isFlushing = false

    /// Everything is committed.
    var isEmpty: Bool { gathering.isEmpty && renewals.isEmpty && !hasSealed }
    /// A cover was put that is not committed.
    var hasCovers: Bool { !gathering.isEmpty || hasSealed }
    private var hasSealed: Bool { syncing != nil || !synced.isEmpty }

    /// Whether the group that gathers takes another cover.
    var hasRoom: Bool { gathering.count < Self.maximumCount }

    // MARK: Events

    /// A cover was put.
    /// - Parameter groupBytes: length of the group that gathers, with it.
    mutating func add(_ cover: Item, groupBytes: Int, now: Instant) {
        gathering.append(cover)
        gatheringBytes = groupBytes
        gatheringSince = gatheringSince ?? now
        isEnding = false
    }

    mutating func add(renewal: Renewed, now: Instant) {
        renewals.append(renewal)
        renewingSince = renewingSince ?? now
        isEnding = false
    }

    /// Nothing else is coming for now.
    mutating func expectNoMore() { isEnding = true }

    /// The group that gathers is sealed, and syncs from now on. There is no other that syncs.
    mutating func didSeal(_ group: Group, now: Instant) {
        sealedCount += 1
        syncing = Sealed(
            id: sealedCount, group: group, covers: gathering, bytes: gatheringBytes, since: gatheringSince ?? now,
            sealedAt: now)
        (gathering, gatheringBytes, gatheringSince) = ([], 0, nil)
    }

    /// The sync of a group has ended. Does nothing if that is known.
    /// - Parameter isSafe: the group survives power loss.
    /// - Returns: the group if it has to be abandoned.
    mutating func didSync(
        _ id: Int, isSafe: Bool, now: Instant, change: (inout Item) -> Void = { _ in }
    ) -> Sealed? {
        guard var group = syncing, group.id == id else { return nil }
        syncing = nil
        patience = min(max(Self.delay, group.sealedAt.duration(to: now) * 2), Self.maximumDelay)
        for index in group.covers.indices { change(&group.covers[index]) }
        if !isSafe { return group }
        synced.append(group)
        return nil
    }

    /// The covers of the group that gathers, which cannot be sealed.
    mutating func takeGathering() -> [Item] {
        defer { (gathering, gatheringBytes, gatheringSince) = ([], 0, nil) }
        return gathering
    }

    mutating func takeSynced() -> [Sealed] {
        defer { synced = [] }
        return synced
    }

    mutating func takeRenewals() -> [Renewed] {
        defer { (renewals, renewingSince) = ([], nil) }
        return renewals
    }

    // MARK: Decisions

    /// The step at `now`.
    /// - Parameter commitLimit: synced groups of this length together, in bytes, are committed.
    func next(_ now: Instant, commitLimit: Int) -> Step {
        let isHurried = isFlushing || isEnding
        if let since = renewingSince {
            if isHurried || renewals.count >= Self.maximumCount || now >= since + Self.delay { return .renew }
        }
        if syncing == nil, let since = gatheringSince {
            let enough = patience == Self.delay ? Self.minimumGroup : Self.largeGroup
            let isLarge = gatheringBytes >= enough || gathering.count >= Self.maximumCount
            if isHurried || isLarge || now >= since + patience { return .seal }
        }
        if let since = synced.first?.since {
            let isOnlyThis = syncing == nil && gathering.isEmpty
            let isLarge = synced.reduce(0) { $0 + $1.bytes } >= commitLimit
            if isOnlyThis || isLarge || now >= since + Self.maximumDelay { return .commit }
        }
        let times = [
            renewingSince.map { $0 + Self.delay },
            syncing == nil ? gatheringSince.map { $0 + patience } : nil,
            synced.first.map { $0.since + Self.maximumDelay },
        ]
        return .wait(until: times.compactMap(\.self).min())
    }
}
