package import CurlHTTP
import HTTPCaching
package import HTTPTypes
package import Platform

/// A cover that is asked for: one object from the list to the outcome. Asks for one URL share a transfer.
///
/// An ask is at one address at a time. When that has failed, it moves to the next one of its album, until one brings a cover or none is
/// left: what the cache knows of all of them was looked up before the first was requested. Its sink gets one outcome.
// because: one thread at a time has it. It moves from the one that reads the list to libcurl's and to the store's, which gives it back.
package final class Ask: @unchecked Sendable {
    /// What the cache knows of an address.
    package final class Known {
        /// The outcome without a request: the cover is stored and may be used, or remembered to be missing.
        let answer: CoverOutcome?
        /// As `Ask.stored`.
        let stored: StoredVersion?
        /// As `Ask.negativeTimeToLive`.
        let negativeTimeToLive: Int64?

        package init(answer: CoverOutcome? = nil, stored: StoredVersion? = nil, negativeTimeToLive: Int64? = nil) {
            (self.answer, self.stored, self.negativeTimeToLive) = (answer, stored, negativeTimeToLive)
        }
    }

    private struct Address {
        let location: String
        /// Addresses with the same number have sizes of one picture.
        var picture: Int
        /// Nil if there is nothing.
        var known: Known?
    }

    /// The address now: as written, and parsed. The parsed one's `string` is the cover's key.
    package private(set) var location: String
    package private(set) var url: HTTPURL
    private var picture = 0
    /// The addresses to try after it, in order.
    private var alternatives: [Address]
    private let ignoredParameters: Set<String>
    /// How the addresses before it failed.
    private var failures: [CoverFailure]
    /// Every size of the address's picture that was tried before was answered with 404 or 410.
    private(set) var mayBeAbsent = true
    /// The address before was another size of the same picture.
    private var triedSizes = false

    package let sink: any OutcomeSink
    /// The line of the list that named the cover.
    package var line: Int?
    package var priority = FetchPriority.normal
    package var cacheUse = CacheUse.useCache
    /// The cover is used now: a stored one whose server has to be asked first does not answer.
    package var isForUse = false
    /// The outcome has the bytes of a cover that must not be stored, also if it is a failure for others.
    package var keepsUnstored = false
    /// When the caller has waited for the time that it gives. The ask ends then, wherever it is.
    package private(set) var deadline: (end: ContinuousClock.Instant, time: Duration)?
    /// Its caller shuts down, and its time is what is left of that.
    private var isClosing = false
    /// The most retries of its transfer; nil for those of the configuration. Those that share one get as many as the most patient of them.
    package var retries: Int?
    /// Probe the host if it was given up because it could not be reached.
    package var ignoresOutage = false
    /// Connect to public addresses only. A transfer that it shares with an ask that does not may connect to others.
    package var deniesPrivateAddresses = false
    /// Its sink may remember a failure of its address (`OutcomeSink.failure`): it repeats another ask, or has moved to the address.
    package var mayHaveFailed = false
    /// What is sent to one origin, and to no other.
    package var ownFields: (fields: HTTPFields, origin: String)?

    // What the cache knows of the address.

    /// The stored version to revalidate; nil to download the cover.
    package var stored: StoredVersion?
    /// The outcome if the server does not give the cover: a stored one is only checked.
    package var fallback: CoverOutcome?
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    package var negativeTimeToLive: Int64?
    /// `PendingStores.stores` before the look-up that did not find the cover: what was stored since answers the ask. Nil if it wants its
    /// server asked.
    package var storesBeforeLookUp: Int?
    /// When the scheduler took it.
    var submitted: ContinuousClock.Instant?

    /// Starts at the first usable address.
    /// - Parameter ignored: as `LibraryConfiguration.ignoredParameters`.
    /// - Throws: `CoverFailure` if none is usable.
    package init(
        _ location: String, alternatives: [String] = [], ignoring ignored: Set<String> = [], sink: any OutcomeSink
    ) throws(CoverFailure) {
        var (usable, rest, failures) = (location, alternatives[...], [CoverFailure]())
        while true {
            do throws(CoverFailure) {
                url = try HTTPURL(location: usable, ignoring: ignored)
                break
            } catch {
                failures.append(error)
                guard let next = rest.popFirst() else { throw CoverFailure(of: failures) }
                usable = next
            }
        }
        (self.location, self.failures, ignoredParameters, self.sink) = (usable, failures, ignored, sink)
        self.alternatives = rest.enumerated().map { Address(location: $1, picture: $0 + 1) }
    }

    /// - Parameter location: the URL as the outcome names it.
    package init(_ url: HTTPURL, location: String, sink: any OutcomeSink) {
        (self.url, self.location, self.sink) = (url, location, sink)
        (alternatives, failures, ignoredParameters) = ([], [], [])
    }

    /// What is sent to the address.
    package var headerFields: HTTPFields {
        guard let ownFields, url.origin == ownFields.origin else { return [:] }
        return ownFields.fields
    }

    /// Download the cover even if it is stored.
    var reloads: Bool { cacheUse == .reload }

    /// A remembered failure counts: of the URL for an ask without its own fields, which a server may answer otherwise.
    package var usesAbsence: Bool { cacheUse.usesAbsence && ownFields == nil }

    package var hasAlternatives: Bool { !alternatives.isEmpty }

    /// It is of a run, and has no address to move to when its host cannot be reached: nothing waits for it but the end of the run.
    var canBePostponed: Bool {
        priority == .normal && deadline == nil && !isForUse && alternatives.allSatisfy { $0.picture == picture }
    }

    /// The usable addresses from here on: as written, and parsed.
    package var addresses: [(location: String, url: HTTPURL)] {
        [(location, url)]
            + alternatives.compactMap { address in
                (try? HTTPURL(address.location, ignoring: ignoredParameters)).map { (address.location, $0) }
            }
    }

    // MARK: Its addresses

    /// Finds out which addresses have sizes of one picture. Call it before one fails.
    /// - Parameter picture: what the addresses of a picture's sizes have in common; nil for an address of no such picture.
    package func findSizes(_ picture: (String) -> String?) {
        let pictures = [picture(location)] + alternatives.map { picture($0.location) }
        for index in alternatives.indices {
            guard let name = pictures[index + 1], let first = pictures.firstIndex(of: name), first <= index else {
                continue
            }
            alternatives[index].picture = first == 0 ? self.picture : alternatives[first - 1].picture
        }
    }

    /// Takes what the cache knows of one of its alternatives.
    package func learn(_ known: Known, of location: String) {
        guard let index = alternatives.firstIndex(where: { $0.location == location }) else { return }
        alternatives[index].known = known
    }

    /// Goes to one of its alternatives now, and to the others after it.
    package func begin(at location: String, _ url: HTTPURL) {
        guard let index = alternatives.firstIndex(where: { $0.location == location }) else { return }
        let address = alternatives.remove(at: index)
        alternatives.insert(Address(location: self.location, picture: picture), at: 0)
        (self.location, self.url, picture) = (location, url, address.picture)
    }

    /// Gives the outcome to the sink, unless it is a failure after which the ask moves to its next address.
    /// - Parameter isOwn: another ask for the address may end otherwise.
    /// - Returns: false if it has moved: it is at an address that has to be requested.
    @discardableResult
    package func complete(_ outcome: CoverOutcome, isOwn: Bool = false) -> Bool {
        var outcome = outcome
        if let fallback, let failure = outcome.failure, !failure.leavesCoverUnknown { outcome = fallback }
        while var failure = outcome.failure, !isForUse || outcome.bodyIfNotStored == nil {
            (failure.url, failure.line) = (location, line)
            // Other header fields may get another answer.
            if !isOwn, ownFields == nil, !failure.isGivenUp, !failure.endsRequest { sink.didFail(url, failure) }
            guard let next = moveToNextAddress(after: failure) else {
                let body = keepsUnstored ? outcome.bodyIfNotStored : nil
                outcome = CoverOutcome(failed: CoverFailure(of: failures), duration: outcome.duration)
                outcome.bodyIfNotStored = body
                sink.take(outcome, of: self)
                return true
            }
            guard let answer = next.known?.answer else { return false }
            outcome = answer
        }
        if outcome.url == url.string { outcome.url = location }
        outcome.line = line
        sink.take(outcome, of: self)
        return true
    }

    package func cancel() { complete(CoverOutcome(failed: .cancelled(""))) }

    /// The library or its program ends.
    package func close() { complete(CoverOutcome(failed: .closed(""))) }

    // MARK: Its time

    /// The caller waits for no longer than this from now on.
    package func wait(atMost timeout: Duration) {
        let end = ContinuousClock.now + timeout
        if deadline.map({ $0.end > end }) ?? true { deadline = (end, timeout) }
    }

    /// The caller shuts down: it waits for a transfer in flight no longer than this from now on, and for no retry.
    func close(within grace: Duration) {
        (isClosing, retries) = (true, 0)
        wait(atMost: grace)
    }

    func isOverdue(_ now: ContinuousClock.Instant) -> Bool { deadline.map { $0.end <= now } ?? false }

    /// Its time is over before an attempt brought the cover.
    /// - Parameters:
    ///   - failure: why there is no cover yet; nil if that is not known.
    ///   - isInFlight: an attempt was about to show more.
    /// - Returns: the failure; nil if its caller shuts down.
    @discardableResult
    func expire(after failure: CoverFailure? = nil, isInFlight: Bool = false) -> CoverFailure? {
        if isClosing {
            close()
            return nil
        }
        let time = deadline?.time ?? .zero
        var own = failure.flatMap { isInFlight ? nil : $0.leavingNoAttempt(within: time) } ?? .overdue("", time)
        if isInFlight, let failure { own.detail += "; the attempt before: \(failure.detail)" }
        (own.url, own.endsRequest) = (url.string, true)
        complete(CoverOutcome(failed: own))
        return own
    }

    /// No attempt can start within its time.
    /// - Returns: false if it has moved to its next address.
    func giveUp(after failure: CoverFailure) -> Bool {
        complete(CoverOutcome(failed: failure.leavingNoAttempt(within: deadline?.time ?? .zero)), isOwn: true)
    }

    /// Moves to the next address: the first of those that are stored, else the first. After a temporary failure of one size of a picture, its other
    /// sizes are left out: the next run finds the one that was asked for.
    /// - Returns: the address; nil if there is none, or the failure is final. `failures` has that of the ask then.
    private func moveToNextAddress(after failure: CoverFailure) -> Address? {
        if failure.isFinal {
            failures = [failure]
            return nil
        }
        let former = picture
        if failure.isRetryable { alternatives.removeAll { $0.picture == former } }
        // Sizes that fail alike are named once.
        if failures.last?.detail != failure.detail || !triedSizes { failures.append(failure) }
        while !alternatives.isEmpty {
            let stored = alternatives.firstIndex { $0.known?.answer?.contentDigest != nil }
            let next = stored ?? alternatives.firstIndex { $0.known?.stored != nil } ?? 0
            let address = alternatives.remove(at: next)
            do throws(CoverFailure) {
                url = try HTTPURL(location: address.location, ignoring: ignoredParameters)
            } catch {
                var problem = error
                problem.line = line
                failures.append(problem)
                continue
            }
            (location, picture, triedSizes) = (address.location, address.picture, address.picture == former)
            mayBeAbsent = !triedSizes || mayBeAbsent && failure.isAbsence
            (self.stored, mayHaveFailed) = (address.known?.stored, true)
            // A size that failed otherwise may be there: the cover is not absent for long.
            negativeTimeToLive = mayBeAbsent ? address.known?.negativeTimeToLive : nil
            return address
        }
        return nil
    }
}

/// Which cached answers an ask accepts: the cases of `CoverRequest.CachePolicy`.
package enum CacheUse: Sendable {
    case useCache, ignoreAbsence, revalidate, reload

    /// The server is asked even if the cover is cached.
    package var asksServer: Bool { self == .revalidate || self == .reload }
    /// A remembered failure counts.
    package var usesAbsence: Bool { self == .useCache }
}

/// What gets the outcomes of asks: a run, a call for one cover, a wall of covers.
package protocol OutcomeSink: AnyObject, Sendable {
    /// Called once for each ask, on any thread, after the commit that makes a success true. Must not block.
    func take(_ outcome: CoverOutcome, of ask: Ask)

    /// False once nothing more is to be started for it.
    var isWanted: Bool { get }

    /// What the transfers of its asks inherit from the task that asked; nil for nothing.
    var origin: AskOrigin? { get }

    /// An address of an ask has failed. The ask may move to others.
    func didFail(_ url: HTTPURL, _ failure: CoverFailure)

    /// The failure of an address that is not tried again for this sink.
    func failure(of url: HTTPURL) -> CoverFailure?

    /// Whether another address with the same key has failed: what the cache remembers of the key may be of that one.
    func hasFailedElsewhere(_ url: HTTPURL) -> Bool
}

extension OutcomeSink {
    package var origin: AskOrigin? { nil }
    package func didFail(_ url: HTTPURL, _ failure: CoverFailure) {}
    package func failure(of url: HTTPURL) -> CoverFailure? { nil }
    package func hasFailedElsewhere(_ url: HTTPURL) -> Bool { false }
}

/// What a transfer inherits from the task that asked for its cover first.
package struct AskOrigin: Sendable {
    /// The place in a trace, such as `traceparent`. Sent to the origin of the cover's URL only: a tracer may add more than identifiers.
    package var traceFields = HTTPFields()
    /// Nil without a transport of the program's own.
    package var context: TaskContext?

    package init() {}
}

/// A stored response that can be revalidated.
package final class StoredVersion: Sendable {
    /// The header fields of the conditional request.
    private let conditions: HTTPFields
    /// `HTTPURL.place` of the redirects' target that gave the validators; nil if the cover's own URL gave them.
    private let place: UInt64?
    /// The stored `ETag`.
    package let entityTag: String?
    /// The SHA-256 of the stored bytes.
    package let digest: Digest
    /// When it was validated last, in milliseconds since 1970. With the digest, it tells whether the stored version is still the same.
    package let validatedAt: Int64

    package init(conditions: HTTPFields, place: UInt64? = nil, digest: Digest, validatedAt: Int64) {
        self.conditions = conditions
        self.place = place
        entityTag = conditions.text(.ifNoneMatch)
        self.digest = digest
        self.validatedAt = validatedAt
    }

    /// The header fields of the conditional request of a URL. Validators belong to the URL that gave them (RFC 9111 section 4.3.1): those of a
    /// redirect's target are sent to that path and query only, on whatever host the redirect leads to, as an archive moves its files between nodes.
    /// - Parameters:
    ///   - target: the URL to request: `url`, or the target of a redirect of it.
    ///   - url: the cover's own URL.
    package func conditions(at target: HTTPURL, of url: HTTPURL) -> HTTPFields {
        let isSource = target.string == url.string ? place == nil : place == target.place
        return isSource ? conditions : [:]
    }
}

/// What a transfer sent of what its requests gave.
struct SentRequest: Sendable {
    /// The addresses that were requested; empty if that was the key itself.
    var addresses: [String] = []
    var fields: HTTPFields = [:]
    var deniesPrivateAddresses = false

    /// A cover that was requested so, with its own URL.
    func cover(_ url: HTTPURL) -> RequestedCover {
        RequestedCover(url, headerFields: fields, deniesPrivateAddresses: deniesPrivateAddresses)
    }

    /// Whether the URL's address was requested.
    func included(_ url: HTTPURL) -> Bool {
        addresses.isEmpty ? !url.omitsParameters : addresses.contains(url.address)
    }
}

extension Ask {
    /// Whether the outcome of a transfer answers the request. A failure that a server answered with, and a cover that is not stored,
    /// answer only requests with the same fields; a refused address answers only requests that may not connect to it. A failure that may be
    /// the address's answers only requests for the addresses that were requested.
    func isAnswered(by outcome: CoverOutcome, to sent: SentRequest) -> Bool {
        if outcome.failure?.kind == .refusedAddress, sent.deniesPrivateAddresses, !deniesPrivateAddresses {
            return false
        }
        if let failure = outcome.failure, failure.isOfAddress, !sent.included(url) { return false }
        return outcome.failure?.status == nil && outcome.bodyIfNotStored == nil || headerFields == sent.fields
    }
}
