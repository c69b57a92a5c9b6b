import CoverLibrary
import Platform

/// What clients do to the imitated services: counts, and violations of their documented limits. Times are in seconds of any clock.
struct ProviderManners: Sendable {
    struct Count: Sendable {
        var searches = 0
        var pictures = 0
        var throttled = 0
        var inFlight = 0
        var peakInFlight = 0
        /// When the last searches came, the oldest first.
        var times: [Double] = []
    }

    /// A second of the limits is this part of a second.
    let scale: Double
    /// Each n-th search is throttled, whatever the rate; nil for none.
    let throttleEvery: Int?
    private(set) var counts: [Provider.Service: Count] = [:]
    private(set) var violations: [String] = []
    /// Requested pictures of albums that no request had searched for.
    private(set) var wrongPictures = 0
    /// Requests may come this much earlier: the clocks of client and server differ.
    private static let tolerance = 0.02

    init(scale: Double, throttleEvery: Int?) { (self.scale, self.throttleEvery) = (scale, throttleEvery) }

    /// The limit of a service's searches: a number in an interval of seconds; nil for none.
    private static func limit(of service: Provider.Service) -> (requests: Int, seconds: Double)? {
        switch service {
        case .caa: nil
        case .musicbrainz: (1, 1)
        case .itunes: (20, 60)
        case .deezer: (50, 5)
        }
    }

    /// A search begins. - Returns: Whether it is throttled.
    mutating func search(_ service: Provider.Service, userAgent: String, at time: Double) -> Bool {
        var count = counts[service] ?? Count()
        defer { counts[service] = count }
        count.searches += 1
        count.inFlight += 1
        count.peakInFlight = max(count.peakInFlight, count.inFlight)
        var isThrottled = throttleEvery.map { count.searches % $0 == 0 } ?? false
        if service == .musicbrainz {
            if count.inFlight > 1 { violations.append("musicbrainz: \(count.inFlight) requests at a time") }
            if !userAgent.contains("@"), !userAgent.contains("://") {
                violations.append("musicbrainz: no contact in the User-Agent “\(userAgent)”")
            }
        }
        if let (requests, seconds) = Self.limit(of: service) {
            let seconds = seconds * scale
            count.times.append(time)
            if count.times.count > requests {
                let passed = time - count.times.removeFirst()
                if passed < seconds - Self.tolerance {
                    violations.append(
                        "\(service): \(requests + 1) requests in \(passed) s, \(requests) in \(seconds) s are allowed")
                    isThrottled = true
                }
            }
        }
        if isThrottled { count.throttled += 1 }
        return isThrottled
    }

    mutating func endSearch(_ service: Provider.Service) { counts[service]?.inFlight -= 1 }

    mutating func picture(_ service: Provider.Service, isWrong: Bool) {
        counts[service, default: Count()].pictures += 1
        if isWrong { wrongPictures += 1 }
    }

    var json: String {
        var line = JSONObject()
        for service in Provider.Service.allCases {
            let count = counts[service] ?? Count()
            var object = JSONObject()
            object.add("searches", count.searches)
            object.add("pictures", count.pictures)
            object.add("throttled", count.throttled)
            object.add("peakInFlight", count.peakInFlight)
            line.add(service.rawValue, raw: object.text)
        }
        line.add("wrongPictures", wrongPictures)
        line.add("violations", raw: "[\(violations.map(\.json).joined(separator: ", "))]")
        return line.text
    }
}
