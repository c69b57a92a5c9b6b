/// The limits that decide when a transfer may start.
package struct FetchLimits: Sendable {
    /// Maximum number of transfers in flight, all hosts together.
    package var parallel: Int
    /// Maximum number of transfers in flight to one host over HTTP/1.1, and of the first ones over HTTP/2.
    package var perHost: Int
    /// Time between two starts to one host.
    package var interval: Duration?
    /// Adapts the number of transfers in flight per host. If false, `perHost` always applies.
    package var adapts: Bool

    /// Longest pause that a host may ask for and a run waits.
    package static let longestRest = Duration.seconds(120)
    /// From this number of covers on that a host answers with 403, and none otherwise, it may have banned this machine.
    package static let ban = 8

    package init(parallel: Int, perHost: Int, interval: Duration? = nil, adapts: Bool = false) {
        self.parallel = parallel
        self.perHost = perHost
        self.interval = interval
        self.adapts = adapts
    }
}
