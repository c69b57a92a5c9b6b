import CurlHTTP

/// What hosts let crawlers fetch, where that is asked (RFC 9309).
extension DownloadQueue {
    /// The answer to `.askRobots`. - Parameter http2: nil: there was none.
    mutating func learn(
        _ rules: Result<RobotsRules, RobotsUnknown>, host number: Int, http2: Bool?, now: Instant
    ) {
        guard case .asking = hosts[number].robots else { return }
        hosts[number].learn(rules, now: now)
        inFlight -= 1
        hosts[number].inFlight -= 1
        if let http2, case .unknown = hosts[number].knowledge { hosts[number].knowledge = .speaks(http2: http2) }
        enterRing(number)
    }

    /// What is to be asked of the host before anything else; nil: nothing.
    mutating func robotsQuestion(_ number: Int, _ now: Instant) -> Decision? {
        switch hosts[number].robots {
        case nil, .asking: return nil
        case .known(_, let until, _) where now < until: return nil
        case .known, .unknown:
            guard let origin = hosts[number].waiting.first(where: isThere).map({ place(of: $0).origin }),
                let url = try? HTTPURL(origin + "/robots.txt")
            else { return nil }
            let tries = if case .unknown(let tries) = hosts[number].robots { tries } else { 0 }
            hosts[number].robots = .asking(tries: tries)
            take(number, now)
            return .askRobots(url, host: number)
        }
    }

    /// Nil: the host's rules allow it, as far as they are asked.
    mutating func refusal(_ id: JobID, _ number: Int) -> Decision? {
        guard case .known(let rules, _, let problem) = hosts[number].robots else { return nil }
        let (url, place) = (slots[id.slot].url, place(of: id))
        if rules.allow(place.target.utf8) { return nil }
        enterRing(number)
        let failure = CoverFailure.disallowed(url.string, problem)
        return .drop(id, url, place == url ? failure : failure.elsewhere(place))
    }
}
