import CoverCache
import CoverFetch

/// The answers of servers in a refresh. They show whether a final answer without the cover (`CoverFailure.isFinalAnswer`) means that the server
/// has lost that cover, or keeps it from this program.
///
/// It does, unless there is evidence that it is about this machine:
///
/// - *A ban*: eight or more covers of a host were answered with 403, for no reason that their URLs have, and none otherwise.
/// - *A captive portal*, which answers for all hosts: all answers of the run, and there were several, were pages instead of pictures.
///
/// Temporary failures are no answers.
struct RunAnswers {
    /// Origins that have answered something else than 403.
    private var answering: Set<Substring> = []
    /// One of them: the next cover may be of the same.
    private var latest: Substring = ""
    /// The covers of the others that were answered with 403.
    private var forbidden: [Substring: Int] = [:]
    private var pages = 0
    /// Something else than a page has come.
    private var haveOther = false
    /// A cover has come, or was confirmed.
    private(set) var haveCover = false

    /// - Parameters:
    ///   - outcome: of a cover that was asked for.
    ///   - origin: that of the cover's URL, wherever it redirects to.
    mutating func add(_ outcome: CoverOutcome, from origin: Substring) {
        if let failure = outcome.failure {
            guard failure.isFinalAnswer else { return }
            if failure.isPage { pages += 1 } else { haveOther = true }
            // It says of a ban neither that there is one nor that there is none.
            if failure.hasExpiredSignature { return }
            if failure.mayBeBan, !answering.contains(origin) {
                forbidden[origin, default: 0] += 1
                return
            }
        } else {
            (haveOther, haveCover) = (true, true)
        }
        if origin == latest { return }
        latest = origin
        if answering.insert(origin).inserted { forbidden[origin] = nil }
    }

    /// Whether a final answer, which was added, shows that its cover is lost.
    func showLoss(_ failure: CoverFailure, from origin: Substring) -> Bool {
        if failure.mayBeBan { return forbidden[origin, default: 0] < FetchLimits.ban }
        return !failure.isPage || haveOther || pages == 1
    }

    /// Whether no later answer can change that. A failure that is no final answer shows nothing.
    func decide(_ failure: CoverFailure, from origin: Substring) -> Bool {
        if !failure.isFinalAnswer { return true }
        if failure.mayBeBan { return answering.contains(origin) }
        return !failure.isPage || haveOther
    }
}

extension CoverFailure {
    fileprivate var isPage: Bool { kind == .notAnImage }
}

extension EntryAnnotation.Failing {
    /// Final answers that show that a cover is gone. An absence (404, 410) shows it the second time.
    static let gone = 3
    /// How long a host may be away until its covers are gone for good, in milliseconds, while nothing else tells whether this machine is
    /// online; and how often it may fail while others answer.
    private static let (longestOutage, failures) = (Int64(14 * 86_400_000), 3)
    /// The least time between the answers of two nights, in milliseconds: a nightly run may begin some hours early or late.
    private static let night = Int64(16 * 3_600_000)

    /// The entry's server does not have its cover any more, or gives it to others only.
    var isGone: Bool { answers >= Self.gone || answers > 1 && answer?.isAbsence == true }

    /// Whether a final answer now is that of another night than the last one that was counted.
    func isOtherNight(_ now: Int64) -> Bool { answer == nil || now < answeredAt || now - answeredAt >= Self.night }

    /// Whether the failure of a check is no news: the cover is gone from its server, or its server is gone. A cover that is gone stays so,
    /// whatever failure follows, until the server gives it again.
    /// - Parameters:
    ///   - former: the failures before.
    ///   - isLoss: a final answer counts: it shows a loss (`RunAnswers`), and none of its night was counted before.
    ///   - othersAnswer: another server has answered meanwhile.
    ///   - now: milliseconds since 1970.
    static func isGone(
        _ failure: CoverFailure, after former: Self?, isLoss: Bool = true, othersAnswer: Bool, at now: Int64
    ) -> Bool {
        guard let former else { return false }
        if former.isGone { return true }
        if failure.isAbsence || failure.kind == .placeholder { return former.answers > 0 }
        if failure.isFinalAnswer { return former.answers + (isLoss ? 1 : 0) >= gone }
        return failure.isHostUnreachable
            && (now - former.first > longestOutage
                || othersAnswer && former.count >= failures && failure.kind != .timeout)
    }
}
