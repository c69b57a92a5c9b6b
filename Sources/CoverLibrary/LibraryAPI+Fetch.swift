import CoverCache
import CurlHTTP

/// A cover that a viewer shows.
package struct CoverDemand: Sendable {
    /// Every URL where the cover may be, in the order of trying. At least one; the first is the demand's key.
    package var urls: [String]
    /// A person asked to try again: the request is sent at once, whatever its host has said or done before.
    package var isUrgent: Bool

    package init(urls: [String], isUrgent: Bool) {
        self.urls = urls
        self.isUrgent = isUrgent
    }
}

extension LibraryAPI {
    /// Downloads covers that are not cached. Returns when their requests are queued.
    /// - Parameters:
    ///   - order: the keys of what is wanted, most wanted first. Requests that were not sent yet are sent in this order, before
    ///     all others to their hosts.
    ///   - left: keys that are not wanted any more. Their requests are withdrawn unless they are in flight, and complete as
    ///     cancelled.
    ///   - completion: called once for each demand, with its key and the digest of its cover, on any thread.
    package func fetch(
        _ demands: [CoverDemand], order: [String], withdrawing left: [String],
        completion: @escaping @Sendable (_ key: String, Result<String, CoverFailure>) -> Void
    ) async {
        let batch = ViewFetch(library: self, completion: completion)
        await batch.send(demands.compactMap(batch.begin), order, left)
    }

    /// The demands of one call of `fetch`.
    private struct ViewFetch: Sendable {
        let library: LibraryAPI
        let completion: @Sendable (String, Result<String, CoverFailure>) -> Void

        struct Item: Sendable {
            var key: String
            var wanted: Wanted
            var isUrgent: Bool
        }

        /// Nil: no URL of the demand can be used.
        func begin(_ demand: CoverDemand) -> Item? {
            do throws(CoverFailure) {
                let wanted = try Wanted(demand.urls, line: nil)
                return Item(key: demand.urls[0], wanted: wanted, isUrgent: demand.isUrgent)
            } catch {
                completion(demand.urls[0], .failure(error))
                return nil
            }
        }

        func send(_ items: [Item], _ order: [String] = [], _ left: [String] = []) async {
            var requests: [(url: HTTPURL, waiter: Waiter)] = []
            for (item, remembered) in zip(items, library.hints(for: items.map(\.wanted.url))) {
                if library.configuration.isOffline {
                    failed(item, .offline(item.wanted.given))
                } else if let absence = remembered.absence, !item.isUrgent {
                    failed(item, .absent(item.wanted.given, absence))
                } else {
                    requests.append((item.wanted.url, waiter(item, remembered)))
                }
            }
            do {
                try await library.scheduler().submit(
                    requests, before: order, withdrawing: left, of: ObjectIdentifier(library))
            } catch {
                let kind: CoverFailure.Kind = library.isClosed ? .cancelled : .connect
                for (url, waiter) in requests {
                    let failure = CoverFailure(kind, url: url.string, detail: error.message)
                    waiter.done(Delivery(result: .failure(failure), isJoined: false, microseconds: 0))
                }
            }
        }

        private func waiter(_ item: Item, _ remembered: Hints) -> Waiter {
            var waiter = Waiter(owner: ObjectIdentifier(library), remembered: remembered) { delivery in
                switch delivery.result {
                case .success(let stored): completion(item.key, .success(stored.digest.description))
                case .failure(let failure): failed(item, failure)
                }
            }
            waiter.isUrgent = item.isUrgent
            return waiter
        }

        /// Goes on to the cover's next URL, where there is one.
        private func failed(_ item: Item, _ failure: CoverFailure) {
            let (next, failure) = item.wanted.next(after: failure)
            guard let next else { return completion(item.key, .failure(failure)) }
            Task { await send([Item(key: item.key, wanted: next, isUrgent: item.isUrgent)]) }
        }
    }
}
