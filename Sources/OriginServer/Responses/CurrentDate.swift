import HTTPCaching
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The value of the `Date` field.
enum CurrentDate {
    /// The current time, formatted at most once a second.
    static var text: String {
        let seconds = Int64(time(nil))
        return latest.withLock {
            if $0.seconds != seconds { $0 = (seconds, HTTPDate.text(seconds)) }
            return $0.text
        }
    }

    private static let latest = Mutex<(seconds: Int64, text: String)>((seconds: -1, text: ""))
}
