import CommandSupport
import CoverLibrary
import Synchronization

/// Prints messages of one kind: the first ones as they come, one a line, and at the end the number of the others.
final class MessageList: Sendable {
    private static let limit = 20
    private let added = Atomic(0)
    private let noun: String
    private let plural: String
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - noun: What each message is about.
    ///   - plural: Of `noun`, if it is not formed with an s.
    init(
        _ noun: String = "failure", _ plural: String? = nil,
        by write: @escaping @Sendable (String) -> Void = { Log.warning($0) }
    ) {
        (self.noun, self.plural, self.write) = (noun, plural ?? noun + "s", write)
    }

    /// Prints messages that are all known.
    func print(_ messages: [String], _ rest: String = "") {
        for message in messages { add(message) }
        end(rest)
    }

    var count: Int { added.load(ordering: .relaxed) }

    func add(_ failure: CoverFailure) { add(failure.url.isEmpty ? failure.detail : failure.message) }

    func add(_ message: String) {
        if added.add(1, ordering: .relaxed).oldValue < Self.limit { write(message) }
    }

    /// Prints how many were not printed. - Parameter rest: What is said of them, such as where they are listed.
    func end(_ rest: String = "") {
        guard count > Self.limit else { return }
        write("… and \(Decimals.count(count - Self.limit, "more " + noun, "more " + plural))\(rest)")
    }
}
