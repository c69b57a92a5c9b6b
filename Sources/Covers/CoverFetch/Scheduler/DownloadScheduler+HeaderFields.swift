import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// What requests send, and who may use the responses.
///
/// Fields that a caller gives are sent to the origin of the URL only, whatever it redirects to (RFC 9110 section 15.4: credentials
/// of one origin are not for another). Requests for one URL with different fields share a transfer as long as it brings a cover that
/// is stored: the cache is private, and what it holds answers all of them (RFC 9111 section 3.5 binds shared caches only).
extension DownloadScheduler {
    /// The fields that callers gave for the origin of a target.
    func givenFields(for job: JobID, at target: HTTPURL) -> HTTPFields {
        let own = queue.jobs[job].state.sent.fields
        var fields = policy.headerFields.isEmpty ? [:] : policy.headerFields[String(target.origin)] ?? [:]
        if !own.isEmpty, target.origin == queue.jobs[job].url.origin { fields.set(own) }
        return fields
    }

    /// Whether the job's request for the target of a redirect is that of any other job without wishes of its own.
    func hasPlainRequest(_ job: JobID, at target: HTTPURL) -> Bool {
        let (state, url) = (queue.jobs[job].state, queue.jobs[job].url)
        return state.cookies.isEmpty && state.codingFailure == nil && state.http1Origin == nil
            && !state.chances.contains(.ownConnections) && state.addressFamily == nil
            && givenFields(for: job, at: target).isEmpty
            && queue.jobs[job].requests.allSatisfy { ask in
                !ask.deniesPrivateAddresses && !ask.cacheUse.asksServer
                    && ask.stored?.conditions(at: target, of: url).isEmpty ?? true
            }
    }

    /// - Parameters:
    ///   - conditions: those of the version to revalidate.
    ///   - trace: the place of its requests in a trace.
    ///   - given: `givenFields`.
    func headerFields(for job: JobID, conditions: HTTPFields, trace: HTTPFields, given: HTTPFields) -> HTTPFields {
        var fields = conditions
        // RFC 9111 section 5.2.1.4.
        if reloads(job) { fields[.cacheControl] = "no-cache" }
        if !trace.isEmpty, queue.jobs[job].target.origin == queue.jobs[job].url.origin { fields.set(trace) }
        fields.set(given)
        return fields
    }

    /// The version to revalidate. A request that reloads wants the bytes.
    func stored(for job: JobID) -> StoredVersion? {
        let downloads = queue.jobs[job].state.chances.contains(.withoutConditions) || reloads(job)
        return downloads ? nil : queue.first(of: job) { $0.stored }
    }

    /// A request of the job wants the cover downloaded, whatever is stored.
    func reloads(_ job: JobID) -> Bool { queue.first(of: job) { $0.reloads ? true : nil } ?? false }

    /// No request of the job permits private addresses.
    func deniesPrivateAddresses(_ job: JobID) -> Bool {
        queue.first(of: job) { $0.deniesPrivateAddresses ? nil : false } ?? true
    }

    /// A response that has just arrived, as the cache has to take it.
    func stored(_ response: TransferResponse, _ job: JobID) -> StoredResponse {
        let now = WallClock.milliseconds(), state = queue.jobs[job].state
        return StoredResponse(
            response, at: state.sharedAt ?? now, redirects: RedirectChain(state.redirects, now: now))
    }

    /// Whether a server chose the response, or a redirect to it, by a field that the caller gave (RFC 9111 section 4.1): it answers no other
    /// request.
    func varies(_ response: TransferResponse, _ job: JobID) -> Bool {
        let state = queue.jobs[job].state, given = state.sent.fields
        if given.isEmpty { return false }
        return (state.redirects + [response.head]).contains { head in
            Vary.names(head.headerFields[values: .vary]).contains { name in
                name == "*" || HTTPField.Name(name).map { given.contains($0) } ?? false
            }
        }
    }
}

extension HTTPFields {
    /// The names, in lower case.
    package var lowercaseNames: Set<String> { Set(map(\.name.canonicalName)) }

    /// Sets each field, in place of those of its name.
    fileprivate mutating func set(_ fields: HTTPFields) {
        for field in fields { self[values: field.name] = fields[values: field.name] }
    }
}

/// The last covers that redirects led to, for jobs that are redirected there a moment later. The one that was used last is at the end.
struct RecentTargets {
    private static let maximumCount = 16
    private static let maximumBytes = 256 << 10

    private var entries: [(target: String, response: TransferResponse, key: String, time: Int64)] = []

    /// - Parameters:
    ///   - key: of the cover whose request brought the response.
    ///   - time: when the response arrived, in milliseconds since 1970.
    mutating func add(_ target: String, _ response: TransferResponse, of key: String, at time: Int64) {
        if response.body.count > Self.maximumBytes { return }
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append((target, response, key, time))
    }

    /// The response of a target, whose request brought it, and when it arrived, if it is fresh by its own header fields.
    /// - Parameter now: milliseconds since 1970.
    mutating func response(
        of target: String, at now: Int64
    ) -> (response: TransferResponse, key: String, time: Int64)? {
        guard let index = entries.lastIndex(where: { $0.target == target }) else { return nil }
        let entry = entries[index], stored = StoredResponse(entry.response, at: entry.time)
        guard stored.isStorable, stored.freshness.isExplicit, now < stored.freshness.freshUntil else { return nil }
        entries.append(entries.remove(at: index))
        return (entry.response, entry.key, entry.time)
    }
}

extension StoredResponse {
    /// - Parameters:
    ///   - time: when the response arrived, in milliseconds since 1970.
    ///   - redirects: those that led to it.
    init(_ response: TransferResponse, at time: Int64, redirects: RedirectChain = RedirectChain()) {
        self.init(
            status: response.head.status.code, fields: response.head.headerFields,
            requestTime: time - Int64(response.microseconds / 1_000), responseTime: time, redirects: redirects)
    }
}
