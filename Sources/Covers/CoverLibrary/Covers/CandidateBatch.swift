import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import Platform

/// The covers of a batch of requests, looked up in the cache.
struct CandidateBatch: Sendable {
    /// A request, or why an element of a list is none.
    typealias Element = Result<CoverRequest, CoverFailure>

    struct Item: Sendable {
        var candidate: CoverCandidate
        /// The first URL of the cover that is cached.
        var cached: (location: String, status: CacheReader.Status)?
        /// The hints for a URL whose server may be asked.
        var hints = Hints()
        /// The cached version to revalidate.
        var stored: StoredVersion?
        /// What `FetchRequest.mark` is.
        var mark: Int?
    }

    /// The number of requests.
    var count: Int
    /// Why requests without a usable URL have none.
    var unusable: [CoverFailure] = []
    var items: [Item] = []
    /// Why the cache could not be read. The items are not looked up then.
    var error: CacheError?
}

/// The hints of the cache for a URL without a cover.
struct Hints: Sendable {
    /// The server answered 404 or 410.
    var absence: Absence?
    /// Its permanent redirect, as in `FetchRequest`.
    var redirect: (target: HTTPURL, until: Int64)?
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    var negativeTimeToLive: Int64?

    /// The hints about the URL of a candidate.
    func about(_ candidate: CoverCandidate) -> Hints {
        var hints = self
        // A size that failed otherwise may be there: the cover is not absent for a week.
        if !candidate.mayBeAbsent { hints.negativeTimeToLive = nil }
        return hints
    }
}

extension CoverPipeline {
    /// Parses the URLs of requests, once, and looks them up: cached or missing, and what is remembered of the missing. Reads the cache
    /// on the current thread, which may block.
    /// - Parameters:
    ///   - file: the list that the requests come from, for messages.
    ///   - shard: the part of the requests that the batch has; nil for all.
    func lookUp(
        _ elements: [CandidateBatch.Element], in file: String? = nil, shard: Shard? = nil
    ) -> CandidateBatch {
        var batch = CandidateBatch(count: 0)
        batch.items.reserveCapacity(elements.count)
        for element in elements {
            switch candidate(element, file) {
            case .success(let candidate):
                if shard?.contains(candidate.url) ?? true {
                    batch.items.append(CandidateBatch.Item(candidate: candidate))
                }
            case .failure(let failure):
                if shard?.hasUnusable ?? true { batch.unusable.append(failure) }
            }
        }
        batch.count = batch.items.count + batch.unusable.count
        if isClosed { batch.error = .closed }
        do {
            if batch.error == nil { try lookUp(&batch.items, reader) }
        } catch {
            batch.error = CacheError(error)
        }
        return batch
    }

    /// The same on a thread that may block.
    func lookUp(_ elements: [CandidateBatch.Element]) async -> CandidateBatch {
        let batch = try? await read { [self] _ in lookUp(elements, in: nil) }
        return batch ?? lookUp(elements, in: nil)
    }

    /// Looks a candidate up again, which has been missing or follows one that failed. It counts as missing if that is not possible.
    func lookUp(_ candidate: CoverCandidate) async -> CandidateBatch.Item {
        let item = CandidateBatch.Item(candidate: candidate)
        let found = try? await read { [self] reader in
            var items = [item]
            try lookUp(&items, reader)
            return items[0]
        }
        return found ?? item
    }

    /// The one read of a batch.
    private func lookUp(_ items: inout [CandidateBatch.Item], _ reader: CacheReader) throws {
        let mark = storeMark
        for (index, status) in try reader.status(of: items.map(\.candidate.url.string)).enumerated() {
            if !items[index].candidate.options.cachePolicy.asksServer { items[index].mark = mark }
            if let status {
                items[index].cached = (items[index].candidate.location, status)
            } else if !items[index].candidate.alternatives.isEmpty {
                items[index].cached = try? cachedAlternative(items[index].candidate, reader)
            }
        }
        let asked = items.indices.filter { index in
            let policy = items[index].candidate.options.cachePolicy
            return !configuration.isOffline && policy != .onlyCache && (items[index].cached == nil || policy.asksServer)
        }
        if asked.isEmpty { return }
        // Hints are disposable.
        if let hints = try? hints(of: asked.map { items[$0].candidate.url }, reader) {
            for (index, hints) in zip(asked, hints) { items[index].hints = hints.about(items[index].candidate) }
        }
        for index in asked where items[index].candidate.options.cachePolicy == .revalidate {
            // One that cannot be read is downloaded.
            items[index].stored = (try? reader.entry(for: items[index].candidate.url.string)).flatMap {
                StoredVersion($0)
            }
        }
    }

    /// The hints about each URL, read on the current thread. Absences that were recorded ahead of now are ignored.
    func hints(of urls: [HTTPURL], _ reader: CacheReader) throws -> [Hints] {
        let now = WallClock.milliseconds()
        let keys = urls.map(\.string)
        // The URL whose 404 says that the archive has the cover in no size.
        let last = keys.map { archive.lastSize(of: $0) ?? $0 }
        let policy = configuration.redirectPolicy
        let absences = try reader.hints(.absent, for: keys, now: now)
        let lastAbsences = last == keys ? absences : try reader.hints(.absent, for: last, now: now)
        let redirects = try reader.hints(.redirect, for: keys, now: now)
        return urls.indices.map { index in
            Hints(
                absence: (lastAbsences[index] ?? absences[index]).flatMap { Absence($0, at: now) },
                redirect: redirects[index].flatMap { hint in
                    policy.rememberedTarget(hint.value, of: urls[index]).map { ($0, hint.until) }
                },
                negativeTimeToLive: archive.lastSize(of: keys[index]) == keys[index]
                    ? CoverArtArchive.negativeTimeToLive : nil)
        }
    }

    private func cachedAlternative(
        _ candidate: CoverCandidate, _ reader: CacheReader
    ) throws -> (location: String, status: CacheReader.Status)? {
        let alternatives = candidate.alternativeKeys
        return zip(alternatives, try reader.status(of: alternatives.map(\.key))).lazy.compactMap {
            alternative, status in
            status.map { (alternative.location, $0) }
        }.first
    }

    /// - Parameter file: the list that the element comes from.
    private func candidate(
        _ element: CandidateBatch.Element, _ file: String?
    ) -> Result<CoverCandidate, CoverFailure> {
        let request: CoverRequest
        do throws(CoverFailure) {
            request = try element.get()
        } catch {
            return .failure(error)
        }
        do throws(CoverFailure) {
            let options = request.options(in: configuration)
            if request.album == nil { return .success(try CoverCandidate(request.location, options)) }
            return .success(try CoverCandidate(try locations(of: request), options))
        } catch {
            var failure = error
            let item = ListItem(url: request.location, album: request.album, line: request.line ?? 0)
            if let file, let problem = item.problem(in: file) {
                (failure.url, failure.detail) = (Redaction.displayable(problem.url ?? ""), "\(problem)")
            }
            return .failure(failure)
        }
    }
}
