/// How many requests a service allows in how long a time, and how long it is left alone when it asks for fewer.
package struct RateRule: Sendable, Hashable {
    package var requests: Int
    package var interval: Duration
    /// The first pause after a throttled request. It doubles with each further one.
    package var pause: Duration

    package init(_ requests: Int, in interval: Duration, pause: Duration) {
        (self.requests, self.interval, self.pause) = (requests, interval, pause)
    }

    /// How long a number of requests takes.
    func time(for requests: Int) -> Duration { interval * (Double(requests) / Double(self.requests)) }
}
