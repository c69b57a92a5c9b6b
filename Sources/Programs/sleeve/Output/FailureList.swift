import CommandSupport
import CoverLibrary
import Synchronization

/// Prints messages about what a command could not handle, one a line, up to a limit.
final class FailureList: Sendable {
    private let limit: Int
    private let state = Mutex(0)
    private let noun: String
    private let plural: String

    /// - Parameter noun: What each message is about.
    init(_ noun: String = "failure", _ plural: String = "failures", limit: Int = 100) {
        (self.noun, self.plural, self.limit) = (noun, plural, limit)
    }

    /// Prints messages that are all known.
    static func print(_ messages: [String], _ noun: String, _ plural: String) {
        let list = FailureList(noun, plural)
        for message in messages { list.add(message) }
        list.summarize()
    }

    /// Writes the first lines, and a line about the others.
    /// - Parameter rest: Makes it from their number.
    static func write(
        _ lines: [String], limit: Int = 20, by write: (String) -> Void = { Log.warning($0) }, rest: (Int) -> String
    ) {
        lines.prefix(limit).forEach(write)
        if lines.count > limit { write(rest(lines.count - limit)) }
    }

    /// The number of failures so far.
    var count: Int { state.withLock { $0 } }

    /// The number of messages that were not printed.
    var omitted: Int { max(0, count - limit) }

    func add(_ failure: CoverFailure) { add(failure.url.isEmpty ? failure.detail : failure.message) }

    func add(_ message: String) {
        let count = state.withLock { count in
            count += 1
            return count
        }
        if count <= limit { Log.warning(message) }
    }

    /// Prints how many were not listed.
    func summarize() {
        if omitted > 0 { Log.warning("\(Decimals.count(omitted, "more " + noun, "more " + plural)) not listed") }
    }
}
