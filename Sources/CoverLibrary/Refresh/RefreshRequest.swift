import CoverCache
import HTTPCaching

/// Which entries of the cache a refresh asks about, and how much it may spend.
public struct RefreshRequest: Sendable {
    /// Which entries are due.
    public enum Scope: Sendable, Hashable {
        /// Those that are not fresh any more (RFC 9111 §4.2).
        case stale
        /// Those that no server has spoken for in so long.
        case olderThan(Duration)
        /// Every one.
        case all
    }

    /// Entries that are fresh and `immutable` (RFC 8246 §2) are never due.
    public var scope = Scope.stale
    /// Only URLs like this one, in which `*` stands for any text and `?` for any character.
    public var pattern: String?
    /// The most requests; those left out are asked next time, the most worthwhile first.
    public var maximumRequests: Int?
    /// No request begins once bodies of so many bytes have come.
    public var maximumBytes: Int?
    /// The longest it may take.
    public var maximumTime: Duration?

    /// A refresh of what is stale, without a limit.
    public init() {}
}

/// Decides which entries a refresh asks about, and which of them first.
struct RefreshChoice {
    private let request: RefreshRequest
    private let pattern: [Character]?
    /// Milliseconds since 1970.
    private let now: Int64

    init(_ request: RefreshRequest, now: Int64) {
        self.request = request
        self.now = now
        pattern = request.pattern.map { Array($0) }
    }

    func isDue(_ entry: RefreshEntry) -> Bool {
        if let pattern, !Self.matches(Array(entry.url), pattern) { return false }
        let isFresh = entry.freshUntil.map { $0 > now } ?? false
        if isFresh, request.scope != .stale, entry.isImmutable { return false }
        switch request.scope {
        case .stale: return !isFresh
        case .olderThan(let age): return now - entry.validatedAt > age.components.seconds * 1_000
        case .all: return true
        }
    }

    /// How much asking is worth: how likely the cover has changed since, and twice that if it was used last. What has not
    /// changed for long is not likely to change now: the chance is taken as that of a memoryless event whose rate is one
    /// in the age that the cover had when it was last validated (Cho & Garcia-Molina, "Estimating Frequency of Change",
    /// 2003). One whose server failed within the day comes after all others.
    /// - Parameter clock: the recency clock, now.
    func worth(_ entry: RefreshEntry, clock: Int64) -> Double {
        let day = 86_400_000.0
        let age = max(Double(entry.validatedAt - (entry.modifiedAt ?? entry.storedAt)), day)
        let chance = 1 - Self.exponential(-Double(max(0, now - entry.validatedAt)) / age)
        let use = clock > 0 ? Double(entry.lastUsed) / Double(clock) : 0
        let hasFailed = entry.triedAt.map { Double(now - $0) < day } ?? false
        return chance * (1 + use) - (hasFailed ? 10 : 0)
    }

    /// e to the power of `x`, for `x` not above zero, to three digits: what is needed of it is an order.
    private static func exponential(_ x: Double) -> Double {
        if x < -20 { return 0 }
        var value = 1 + x / 1_024
        for _ in 0..<10 { value *= value }
        return value
    }

    /// Whether the whole of `text` is like `pattern`.
    static func matches(_ text: [Character], _ pattern: [Character]) -> Bool {
        var (place, wanted) = (0, 0)
        var star: (text: Int, pattern: Int)?
        while place < text.count {
            if wanted < pattern.count, pattern[wanted] == "*" {
                star = (place, wanted)
                wanted += 1
            } else if wanted < pattern.count, pattern[wanted] == "?" || pattern[wanted] == text[place] {
                place += 1
                wanted += 1
            } else if let last = star {
                // The last star takes one more.
                star = (last.text + 1, last.pattern)
                (place, wanted) = (last.text + 1, last.pattern + 1)
            } else {
                return false
            }
        }
        return pattern[wanted...].allSatisfy { $0 == "*" }
    }
}

/// What is to know of an entry for the choice; times in milliseconds since 1970.
struct RefreshEntry {
    var url: String
    var storedAt: Int64
    var validatedAt: Int64
    var freshUntil: Int64?
    var lastUsed: Int64 = 0
    /// As `EntryMetadata` has them. Looked into only where the choice depends on it: there may be a million entries.
    var fields = ""

    /// `Last-Modified`.
    var modifiedAt: Int64? { field("last-modified").flatMap { HTTPDate.seconds($0) }.map { $0 * 1_000 } }
    var isImmutable: Bool { field("cache-control").map { CacheDirectives($0).isImmutable } ?? false }
    /// When its server last failed to answer.
    var triedAt: Int64? {
        for case .triedAt(let time) in EntryAnnotation.all(in: fields) { return time }
        return nil
    }

    private func field(_ name: String) -> String? {
        fields.withBytes { lines in
            var rest = lines
            while let line = KeptLine(&rest) {
                if line.name.elementsEqual(name.utf8) { return line.value.string }
            }
            return nil
        }
    }
}
