import CoverFetch
import CurlHTTP

/// A cover that a viewer shows.
package struct CoverDemand: Sendable {
    /// The URLs where the cover may be, in the order of trying; at least one. The first is the demand's key.
    package var urls: [String]
    /// A person asked to try again: what is remembered of the URL and its host does not count.
    package var isUrgent: Bool

    package init(urls: [String], isUrgent: Bool) {
        self.urls = urls
        self.isUrgent = isUrgent
    }
}

/// The demands of one call of `LibraryAPI.fetch`.
struct DemandFetch: Sendable {
    let pipeline: CoverPipeline
    let completion: @Sendable (String, Result<String, CoverFailure>) -> Void

    struct Item: Sendable {
        var key: String
        var candidate: CoverCandidate
    }

    /// Nil if no URL of the demand is usable.
    func begin(_ demand: CoverDemand) -> Item? {
        do throws(CoverFailure) {
            let candidate = try CoverCandidate(
                demand.urls,
                RequestOptions(
                    priority: .immediate, cachePolicy: demand.isUrgent ? .ignoreAbsence : .useCache,
                    ignoredParameters: pipeline.configuration.ignoredParameters))
            return Item(key: demand.urls[0], candidate: candidate)
        } catch {
            completion(demand.urls[0], .failure(error))
            return nil
        }
    }

    func send(_ items: [Item], _ order: [String] = [], _ withdrawn: [String] = []) async {
        var requests: [(url: HTTPURL, request: FetchRequest)] = []
        let shared = await pipeline.fetchFromTier(items.map(\.candidate))
        for ((item, hints), shared) in zip(zip(items, await pipeline.hints(items.map(\.candidate))), shared) {
            if let shared {
                completion(item.key, .success(shared.digest ?? ""))
            } else if pipeline.configuration.isOffline {
                failed(item, .offline(item.candidate.location))
            } else if let absence = hints.absence, item.candidate.options.usesAbsence {
                failed(item, .absent(item.candidate.location, absence))
            } else {
                requests.append((item.candidate.url, request(item, hints)))
            }
        }
        do throws(LibraryError) {
            try await pipeline.scheduler().submit(
                requests, order: order, withdrawing: withdrawn, of: ObjectIdentifier(pipeline))
        } catch {
            let kind: CoverFailure.Kind = pipeline.isClosed ? .cancelled : .connect
            for (url, request) in requests {
                request.completion(CoverOutcome(failed: CoverFailure(kind, url: url.string, detail: error.message)))
            }
        }
    }

    private func request(_ item: Item, _ hints: Hints) -> FetchRequest {
        item.candidate.fetchRequest(owner: pipeline, hints, priority: .immediate) { outcome in
            if let failure = outcome.failure { return failed(item, failure) }
            completion(item.key, .success(outcome.digest ?? ""))
        }
    }

    /// Goes on to the cover's next URL, if there is one.
    private func failed(_ item: Item, _ failure: CoverFailure) {
        let (next, failure) = item.candidate.next(after: failure)
        guard let next else { return completion(item.key, .failure(failure)) }
        Task { await send([Item(key: item.key, candidate: next)]) }
    }
}
