/// The time of day.
package enum WallClock {
    /// Milliseconds since 1970.
    package static func milliseconds() -> Int64 { microseconds() / 1_000 }

    /// A time that another clock may have told, for comparisons: one ahead of now is wrong, and older than any other.
    package static func known(_ milliseconds: Int64) -> Int64 {
        milliseconds > self.milliseconds() ? .min : milliseconds
    }

    /// Microseconds since 1970.
    package static func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
