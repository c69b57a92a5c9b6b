import CurlHTTP

/// A cover that a prefetch is to bring, and where it may be: one place mostly.
struct Wanted: Sendable {
    /// The place to ask now: as it was given, and as a URL.
    private(set) var given: String
    private(set) var url: HTTPURL
    /// Those to ask after it, in order.
    private(set) var rest: [String]
    /// What became of those before it.
    private(set) var failures: [CoverFailure] = []

    /// The cover at one URL. - Throws: `CoverFailure`: it is none.
    init(_ given: String, line: Int?) throws(CoverFailure) {
        do throws(HTTPURL.Problem) {
            url = try HTTPURL(given)
        } catch {
            throw CoverFailure(.badURL, url: CoverFailure.shown(given), detail: "\(error)", line: line)
        }
        self.given = given
        rest = []
    }

    /// The first of the places that can be asked.
    /// - Parameters:
    ///   - places: at least one.
    ///   - line: where it stands in its list.
    /// - Throws: `CoverFailure`: none can.
    init(_ places: [String], line: Int?) throws(CoverFailure) {
        var failures: [CoverFailure] = []
        for (number, place) in places.enumerated() {
            do throws(CoverFailure) {
                self = try Wanted(place, line: line)
                rest = Array(places[(number + 1)...])
                self.failures = failures
                return
            } catch {
                failures.append(error)
            }
        }
        throw CoverFailure(of: failures)
    }

    /// The same cover at its next place, since this one has failed; nil where there is none, and what is to be said of all.
    func next(after failure: CoverFailure) -> (wanted: Wanted?, failure: CoverFailure) {
        if failure.endsChain { return (nil, failure) }
        let all = failures + [failure]
        if rest.isEmpty { return (nil, CoverFailure(of: all)) }
        do throws(CoverFailure) {
            var next = try Wanted(rest, line: nil)
            next.failures = all + next.failures
            return (next, failure)
        } catch {
            return (nil, CoverFailure(of: all + [error]))
        }
    }

    /// Every place left, as keys of the cache.
    var keys: [(given: String, key: String)] {
        [(given, url.string)] + rest.compactMap { place in (try? HTTPURL(place)).map { (place, $0.string) } }
    }
}
