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
    /// How the URLs before it failed.
    private(set) var failures: [CoverFailure] = []

    /// - Throws: `CoverFailure` if the text is no usable URL.
    init(_ location: String, line: Int?) throws(CoverFailure) {
        url = try HTTPURL(location: location, line: line)
        self.location = location
        alternatives = []
    }

    /// Starts with the first usable URL.
    /// - Parameters:
    ///   - locations: at least one.
    ///   - line: the line of the list that named it.
    /// - Throws: `CoverFailure` if none is usable.
    init(_ locations: [String], line: Int?) throws(CoverFailure) {
        var failures: [CoverFailure] = []
        for (index, location) in locations.enumerated() {
            do throws(CoverFailure) {
                self = try CoverCandidate(location, line: line)
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
    func next(after failure: CoverFailure) -> (candidate: CoverCandidate?, failure: CoverFailure) {
        if failure.isFinal { return (nil, failure) }
        let all = failures + [failure]
        if alternatives.isEmpty { return (nil, CoverFailure(of: all)) }
        do throws(CoverFailure) {
            var next = try CoverCandidate(alternatives, line: nil)
            next.failures = all + next.failures
            return (next, failure)
        } catch {
            return (nil, CoverFailure(of: all + [error]))
        }
    }

    /// The usable alternatives: as written, and as keys of the cache.
    var alternativeKeys: [(location: String, key: String)] {
        alternatives.compactMap { location in (try? HTTPURL(location)).map { (location, $0.string) } }
    }
}

extension HTTPURL {
    /// - Parameter line: the line of the list that named it.
    /// - Throws: `CoverFailure` if the text is no usable URL.
    init(location: String, line: Int? = nil) throws(CoverFailure) {
        do throws(HTTPURL.Problem) {
            self = try HTTPURL(location)
        } catch {
            throw CoverFailure(.badURL, url: Redaction.displayable(location), detail: "\(error)", line: line)
        }
    }
}

extension CoverFailure {
    /// No alternative URL would help.
    var isFinal: Bool { kind == .cancelled || kind == .cache }

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
