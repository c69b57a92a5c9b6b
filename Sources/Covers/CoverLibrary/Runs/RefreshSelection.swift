import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// Decides which cached entries a refresh checks, and in which order.
struct RefreshSelection: Sendable {
    private let scope: RefreshRequest.Scope
    private let matcher: CoverMatcher?
    /// How requests ask, by key; nil for all that `matcher` matches.
    private let named: [String: [Question]]?
    /// What is sent for covers that were got with fields, to the origin of each one's URL.
    private let headerFields: HTTPFields
    /// What is sent with every request, by origin.
    private let configured: [String: HTTPFields]
    /// Milliseconds since 1970.
    private let now: Int64

    /// How a server is asked about an entry.
    struct Question: Sendable {
        var url: HTTPURL
        /// What is sent to the origin of the URL, and to no other.
        var headerFields: HTTPFields = [:]
    }

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - configured: the configuration's header fields, by origin.
    ///   - urls: the URLs of a request.
    /// - Throws: `LibraryError` if the request names no valid host.
    init(
        _ request: RefreshRequest, now: Int64, configured: [String: HTTPFields] = [:],
        urls: (CoverRequest) throws(CoverFailure) -> [HTTPURL] = { _ in [] }
    ) throws(LibraryError) {
        (scope, self.now, self.configured) = (request.scope, now, configured)
        headerFields = request.headerFields.fields
        switch request.selection.covers {
        case .matching(let filter): (matcher, named) = (try CoverMatcher(filter), nil)
        case .requests(let requests):
            var named: [String: [Question]] = [:]
            for request in requests {
                let (own, origin) = (request.headerFields.fields, (try? HTTPURL(request.location))?.origin)
                for url in (try? urls(request)) ?? [] {
                    named[url.string, default: []].append(
                        Question(url: url, headerFields: url.origin == origin ? own : [:]))
                }
            }
            (matcher, self.named) = (nil, named)
        }
    }

    /// Whether the entry's server should be asked. A cover that was given as a file has none.
    func isDue(_ entry: CachedEntry) -> Bool {
        if matcher?.matches(entry) == false || named.map({ $0[entry.metadata.key] == nil }) == true { return false }
        if let url = try? HTTPURL(entry.metadata.key), url.isInvalidHost { return false }
        // Its times are unknown: it was validated with a wrong clock.
        if entry.validatedAt > now { return true }
        let isFresh = Staleness.isFresh(until: entry.metadata.freshUntil, validatedAt: entry.validatedAt, at: now)
        if isFresh, scope != .stale, entry.isImmutable { return false }
        switch scope {
        case .stale: return !isFresh
        case .olderThan(let age): return .milliseconds(now - entry.validatedAt) > age
        case .all: return true
        }
    }

    /// Whether this run has what the request for the entry's cover had.
    func canAsk(about entry: CachedEntry) -> Bool {
        if UnkeptParts(entry.metadata.fields).isEmpty { return true }
        // One whose key is no usable URL fails with that.
        do { return try question(about: entry) != nil } catch { return true }
    }

    /// How to ask about an entry; nil if this run does not have all that the request for its cover had.
    /// - Throws: `CoverFailure` if the key is no usable URL.
    func question(about entry: CachedEntry) throws(CoverFailure) -> Question? {
        let (url, unkept) = (try entry.metadata.url(), UnkeptParts(entry.metadata.fields))
        let own = Question(url: url, headerFields: unkept.fieldNames[String(url.origin)] == nil ? [:] : headerFields)
        return ([own] + (named?[entry.metadata.key] ?? [])).first {
            unkept.areIn($0.url, $0.headerFields, configured: configured)
        }
    }

    /// How much a check is worth: how likely the cover has changed since its validation, doubled if it was used last.
    ///
    /// Changes are taken as memoryless, with the rate of one change in the age that the cover had when it was last validated (Cho &
    /// Garcia-Molina, "Estimating Frequency of Change", 2003). An entry that was validated with a wrong clock counts as changed. One
    /// whose server failed within a day comes after all others.
    /// - Parameter clock: the recency clock now.
    func priority(of entry: CachedEntry, clock: Int) -> Double {
        let day = 86_400_000.0
        let age = max(Double(entry.validatedAt - (entry.modifiedAt ?? entry.metadata.storedAt)), day)
        let probability =
            entry.validatedAt > now ? 1 : 1 - exp(-Double(now - entry.validatedAt) / age)
        let use = clock > 0 ? Double(entry.lastUsed) / Double(clock) : 0
        let failing = EntryAnnotation.failures(in: entry.metadata.fields)
        let hasFailed = failing.map { $0.last <= now && Double(now - $0.last) < day } ?? false
        return probability * (1 + use) - (hasFailed ? 10 : 0)
    }
}

// The fields are parsed only if the decision depends on them: there may be a million entries.
extension CachedEntry {
    /// `Last-Modified`.
    fileprivate var modifiedAt: Int64? { field("last-modified").flatMap { HTTPDate.seconds($0) }.map { $0 * 1_000 } }
    fileprivate var isImmutable: Bool { field("cache-control").map { CacheDirectives($0).isImmutable } ?? false }

    private func field(_ name: String) -> String? {
        metadata.fields.withBytes { lines in
            var rest = lines
            while let line = FieldLine(&rest) {
                if line.name.elementsEqual(name.utf8) { return line.value.string }
            }
            return nil
        }
    }
}

/// Which cached covers a refresh checks, and how much it may spend.
public struct RefreshRequest: Sendable, Hashable {
    /// Which covers are due. Further cases may be added.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Scope: Sendable, Hashable {
        /// Those that are no longer fresh (RFC 9111 §4.2).
        case stale
        /// Those that were not validated for this long.
        case olderThan(Duration)
        /// All.
        case all
    }

    /// Fresh `immutable` covers (RFC 8246 §2) are never due.
    public var scope: Scope
    /// Only these covers, as far as they are cached and due.
    public var selection: CoverSelection
    /// What is sent for covers that were got with header fields of their requests or of the configuration: to the origin of each one's URL, and to
    /// no other. Covers that need more than these and the configuration's are left out. The requests of a selection have their own.
    public var headerFields: RequestHeaderFields
    /// Maximum number of requests. Covers that most likely changed, or were used last, come first.
    public var maximumRequests: Int?
    /// No request starts after bodies of this length, in bytes.
    public var maximumBytes: Int?
    /// Maximum duration.
    public var maximumTime: Duration?

    /// By default a refresh of all that is stale, without a limit.
    public init(
        scope: Scope = .stale, selection: CoverSelection = .all, maximumRequests: Int? = nil, maximumBytes: Int? = nil,
        maximumTime: Duration? = nil, headerFields: RequestHeaderFields = [:]
    ) {
        (self.scope, self.selection, self.headerFields) = (scope, selection, headerFields)
        (self.maximumRequests, self.maximumBytes, self.maximumTime) = (maximumRequests, maximumBytes, maximumTime)
    }
}
