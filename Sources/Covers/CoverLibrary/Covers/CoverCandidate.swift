import CoverCache
import CoverFetch
import CurlHTTP
import Platform

/// A cover and the URLs where it may be. Most covers have one.
struct CoverCandidate: Sendable {
    /// The URL to try now: as written, and normalised.
    private(set) var location: String
    private(set) var url: HTTPURL
    /// The URLs to try after it, in order.
    private(set) var alternatives: [String]
    let options: RequestOptions
    /// The line of the list that named it.
    var line: Int? { options.line }
    /// How the URLs before it failed.
    private(set) var failures: [CoverFailure] = []
    /// Whether every size of the Cover Art Archive's picture that was tried before was answered with 404 or 410.
    private(set) var mayBeAbsent = true

    /// - Throws: `CoverFailure` if the text is no usable URL.
    init(_ location: String, _ options: RequestOptions) throws(CoverFailure) {
        url = try HTTPURL(location: location, line: options.line, ignoring: options.ignoredParameters)
        self.location = location
        self.options = options
        alternatives = []
    }

    /// Starts with the first usable URL.
    /// - Parameter locations: at least one.
    /// - Throws: `CoverFailure` if none is usable.
    init(_ locations: [String], _ options: RequestOptions) throws(CoverFailure) {
        var failures: [CoverFailure] = []
        for (index, location) in locations.enumerated() {
            do throws(CoverFailure) {
                self = try CoverCandidate(location, options)
                alternatives = Array(locations[(index + 1)...])
                self.failures = failures
                return
            } catch {
                failures.append(error)
            }
        }
        throw CoverFailure(of: failures)
    }

    /// The cover at its next URL; nil if there is none, with the failure of all.
    ///
    /// After a temporary failure of one size of a picture, its other sizes are left out: the next run finds the one that was asked for.
    func next(after failure: CoverFailure) -> (candidate: CoverCandidate?, failure: CoverFailure) {
        if failure.isFinal { return (nil, failure) }
        let picture = CoverArtArchive.picture(of: location)
        func isOtherSize(_ url: String) -> Bool { picture != nil && CoverArtArchive.picture(of: url) == picture }
        var all = failures
        // Sizes that fail alike are named once.
        let isRepeated = all.last.map { isOtherSize($0.url) && $0.detail == failure.detail } ?? false
        if !isRepeated { all.append(failure) }
        let rest = failure.isTemporary ? alternatives.filter { !isOtherSize($0) } : alternatives
        if rest.isEmpty { return (nil, CoverFailure(of: all)) }
        do throws(CoverFailure) {
            var next = try CoverCandidate(rest, options)
            next.failures = all + next.failures
            if isOtherSize(next.location) { next.mayBeAbsent = mayBeAbsent && failure.isAbsence }
            return (next, failure)
        } catch {
            return (nil, CoverFailure(of: all + [error]))
        }
    }

    /// A request for the cover at this URL.
    /// - Parameters:
    ///   - hints: what the cache remembers about the URL.
    ///   - stored: the cached cover to revalidate; nil to download the cover.
    ///   - priority: that of a request without its own.
    func fetchRequest(
        owner: AnyObject, _ hints: Hints, stored: StoredVersion? = nil, priority: CoverRequest.Priority,
        completion: @escaping @Sendable (CoverOutcome) -> Void
    ) -> FetchRequest {
        var request = FetchRequest(owner: ObjectIdentifier(owner), completion: completion)
        request.apply(hints)
        request.priority = (options.priority ?? priority).order
        if !options.headerFields.isEmpty, url.origin == options.fieldsOrigin {
            request.headerFields = options.headerFields.fields
        }
        request.deniesPrivateAddresses = options.deniesPrivateAddresses
        request.ignoresOutage = !options.cachePolicy.usesAbsence
        if options.cachePolicy == .reload {
            request.reloads = true
            request.redirect = nil
        } else {
            request.stored = stored
        }
        return request
    }

    /// The usable alternatives: as written, and as keys of the cache.
    var alternativeKeys: [(location: String, key: String)] {
        alternatives.compactMap { location in
            (try? HTTPURL(location, ignoring: options.ignoredParameters)).map { (location, $0.string) }
        }
    }
}

extension HTTPURL {
    /// - Parameters:
    ///   - line: the line of the list that named it.
    ///   - ignored: as `LibraryConfiguration.ignoredParameters`.
    /// - Throws: `CoverFailure` if the text is no usable URL.
    init(location: String, line: Int? = nil, ignoring ignored: Set<String>) throws(CoverFailure) {
        do throws(HTTPURL.Problem) {
            self = try HTTPURL(location, ignoring: ignored)
        } catch {
            throw CoverFailure(.badURL, url: Redaction.displayable(location), detail: "\(error)", line: line)
        }
    }
}

extension CoverFailure {
    /// No alternative URL would help.
    var isFinal: Bool { kind == .cancelled || kind == .cache }

    /// The server has answered that there is no cover.
    fileprivate var isAbsence: Bool { kind == .status && (status == 404 || status == 410) }

    /// The failure of a cover whose URLs have all failed: the first temporary one, else the first, with the details of all.
    /// - Parameter failures: at least one, in order.
    init(of failures: [CoverFailure]) {
        let cause = failures.firstIndex { $0.isTemporary } ?? 0
        self = failures[cause]
        isElsewhere = isElsewhere || cause > 0
        url = failures[0].url
        guard failures.count > 1 else { return }
        detail = failures[0].detail + failures.dropFirst().map { "; then \($0.message)" }.joined()
    }
}
