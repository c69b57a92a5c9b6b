import CoverCache
import CoverFetch
import CurlHTTP
import HTTPTypes
import Platform
import Synchronization

/// Revalidates the cached entries that are due. One run.
final class Refresher: OutcomeSink {
    /// Entries read from the index at a time.
    private static let batchSize = 1_024
    /// After a stop, the rest is counted for this long.
    private static let countingTime = Duration.milliseconds(50)

    private let pipeline: CoverPipeline
    private let request: RefreshRequest
    private let run: Run
    let origin: AskOrigin?
    private let isBudgetSpent = Atomic(false)
    private let state: Mutex<State>

    fileprivate struct State {
        /// Final answers that are held back at a time. Others count by the answers until then.
        static let maximumHeld = 4_096

        /// Final answers count in each refresh, rather than once a night: this one asks for all covers.
        let countsEachTime: Bool
        /// The failures before of entries whose servers are asked, by key.
        var failing: [String: EntryAnnotation.Failing] = [:]
        var answers = RunAnswers()
        /// Checks with a final answer of which a later answer may show that it is not about the cover.
        var held: [Check] = []
        /// Final answers that count, and are not recorded yet.
        var counted: [(failure: CoverFailure, key: String, version: StoredVersion)] = []
    }

    /// A check of an entry that has failed.
    fileprivate struct Check {
        var outcome: CoverOutcome
        var failure: CoverFailure
        let key: String
        let origin: Substring
        /// The stored version that was asked about.
        let version: StoredVersion?
        /// The entry's failures before.
        let former: EntryAnnotation.Failing?
    }

    init(_ pipeline: CoverPipeline, _ request: RefreshRequest, _ run: Run) {
        self.pipeline = pipeline
        self.request = request
        self.run = run
        state = Mutex(State(countsEachTime: request.scope == .all))
        origin = pipeline.currentOrigin()
    }

    /// Asks about every due entry, and returns when each has an outcome.
    /// - Throws: `LibraryError` if the library is offline, or closed before the end, or the index cannot be read.
    func refresh() async throws(LibraryError) {
        if pipeline.isClosed { throw .closed }
        if pipeline.configuration.isOffline { throw .offline }
        await pipeline.shelf.flushUsage()
        let timer = request.maximumTime.map { time in
            Task {
                // A clock's instants end sooner than durations.
                if (try? await Task.sleep(for: min(time, .seconds(3_153_600_000)))) != nil { spendBudget() }
            }
        }
        defer { timer?.cancel() }
        let result = await pipeline.perform(run, for: self, isPrefetch: false) { [self] in
            try await hasBudget ? askByPriority() : askAll()
        }
        await takeHeld()
        try result.get()
        // Truncates the log that the run has grown: a refresh leaves the cache no larger. What fails is done by a later writer.
        try? await pipeline.persistency.withWriter { try $0.compact() }
    }

    private var hasBudget: Bool {
        request.maximumRequests != nil || request.maximumBytes != nil || request.maximumTime != nil
    }

    private var isOver: Bool { Task.isCancelled || !isWanted }

    // MARK: Entries

    private func selection() throws(LibraryError) -> RefreshSelection {
        try RefreshSelection(
            request, now: WallClock.milliseconds(), configured: pipeline.configuration.fieldsByOrigin
        ) { [pipeline] request throws(CoverFailure) in try pipeline.urls(of: request) }
    }

    /// Asks about every due entry in the order of storing.
    private func askAll() async throws {
        let selection = try selection()
        var (row, last) = (Int64(0), try await pipeline.shelf.read { try $0.lastRow() })
        var stopped: ContinuousClock.Instant?
        while row < last {
            let (first, end) = (row, last)
            let (next, due, leftOut) = try await pipeline.shelf.read { reader in
                var (due, leftOut) = ([CachedEntry](), 0)
                due.reserveCapacity(Self.batchSize)
                let (entries, next) = try reader.entries(after: first, through: end, limit: Self.batchSize)
                for entry in entries where selection.isDue(entry) {
                    if selection.canAsk(about: entry) { due.append(entry) } else { leftOut += 1 }
                }
                return (next, due, leftOut)
            }
            row = next
            run.addLeftOut(leftOut)
            if !isOver {
                await ask(due, selection)
                continue
            }
            run.addRemaining(due.count)
            stopped = stopped ?? .now
            if let stopped, .now - stopped > Self.countingTime { return }
        }
        run.didReadList()
    }

    /// Asks about as many due entries as the budget allows, those most likely changed or last used first.
    private func askByPriority() async throws {
        let selection = try selection()
        let (due, leftOut) = try await pipeline.shelf.read { reader in
            var (due, leftOut) = ([(row: Int64, priority: Double)](), 0)
            let clock = try reader.clock()
            try reader.entries { entry in
                guard selection.isDue(entry) else { return }
                guard selection.canAsk(about: entry) else { return leftOut += 1 }
                due.append((entry.row.id, selection.priority(of: entry, clock: clock)))
            }
            due.sort { ($0.priority, $1.row) > ($1.priority, $0.row) }
            return (due.map(\.row), leftOut)
        }
        run.addLeftOut(leftOut)
        var rows = due[...]
        let maximum = max(0, min(request.maximumRequests ?? .max, rows.count))
        run.addRemaining(rows.count - maximum)
        rows = rows.prefix(maximum)
        defer { run.didReadList() }
        while !rows.isEmpty {
            if isOver { return run.addRemaining(rows.count) }
            // Neighbours in the index lie on the same pages.
            let batch = rows.prefix(Self.batchSize).sorted()
            rows = rows.dropFirst(Self.batchSize)
            await ask(try await pipeline.shelf.read { try $0.entries(rows: batch) }, selection)
        }
    }

    private func ask(_ entries: [CachedEntry], _ selection: RefreshSelection) async {
        if entries.isEmpty { return }
        await run.waitForReader()
        await recordAnswers()
        run.addRequests(entries.count)
        var due: [(entry: CachedEntry, question: RefreshSelection.Question)] = []
        for entry in entries {
            do throws(CoverFailure) {
                guard let question = try selection.question(about: entry) else {
                    // Another process has stored it again since it was chosen.
                    run.moveToNextRun()
                    continue
                }
                due.append((entry, question))
            } catch {
                // Only damage or another program writes such a key. It concerns no other entry.
                run.add(CoverOutcome(failed: error))
            }
        }
        do {
            try await pipeline.scheduler().submit(due.map { ask(about: $0.entry, $0.question) })
        } catch {
            stop("\(LibraryError(error))")
            run.moveToNextRun(due.count)
        }
    }

    private func ask(about entry: CachedEntry, _ question: RefreshSelection.Question) -> Ask {
        let ask = Ask(question.url, location: entry.metadata.key, sink: self)
        (ask.cacheUse, ask.stored) = (.revalidate, StoredVersion(entry))
        ask.negativeTimeToLive = pipeline.negativeTimeToLive(of: question.url)
        if !question.headerFields.isEmpty {
            ask.ownFields = (question.headerFields, String(question.url.origin))
        }
        if let failures = EntryAnnotation.failures(in: entry.metadata.fields) {
            state.withLock { $0.failing[entry.metadata.key] = failures }
        }
        return ask
    }

    // MARK: Outcomes

    var isWanted: Bool { !run.isEnding && !isBudgetSpent.load(ordering: .acquiring) }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        var outcome = outcome
        if let failure = outcome.failure {
            if failure.kind == .cache { stop(failure.detail) }
            if failure.leavesCoverUnknown {
                state.withLock { _ = $0.failing.removeValue(forKey: ask.location) }
                return run.moveToNextRun()
            }
        } else if outcome.isJoined, outcome.kind != .revalidated {
            outcome.kind = .joined
        }
        guard let outcome = state.withLock({ $0.take(outcome, of: ask) }) else { return run.hold() }
        run.add(outcome)
        if let maximum = request.maximumBytes, run.counts.bytes >= maximum { spendBudget() }
    }

    /// Ends what was held back.
    private func takeHeld() async {
        let outcomes = state.withLock { state in
            defer { state.held = [] }
            return state.held.map { state.outcome(of: $0) }
        }
        await recordAnswers()
        for outcome in outcomes { run.add(outcome, wasHeld: true) }
    }

    /// Records the answers that count. What cannot be written counts next time.
    private func recordAnswers() async {
        let counted = state.withLock { state in
            defer { state.counted = [] }
            return state.counted
        }
        if !counted.isEmpty { try? await pipeline.persistency.note(counted) }
    }

    private func spendBudget() {
        isBudgetSpent.store(true, ordering: .releasing)
        pipeline.cancelAsks(of: self)
    }

    private func stop(_ reason: String) { pipeline.stop(run, reason, for: self) }
}

extension Refresher.State {
    /// - Returns: the outcome, unless it is held back.
    fileprivate mutating func take(_ outcome: CoverOutcome, of ask: Ask) -> CoverOutcome? {
        let origin = ask.url.origin
        // Most have no failure: a key need not be hashed.
        let former = failing.isEmpty ? nil : failing.removeValue(forKey: ask.location)
        answers.add(outcome, from: origin)
        guard let failure = outcome.failure else { return outcome }
        let check = Refresher.Check(
            outcome: outcome, failure: failure, key: ask.location, origin: origin, version: ask.stored, former: former)
        if answers.decide(failure, from: origin) || held.count >= Self.maximumHeld {
            return self.outcome(of: check)
        }
        held.append(check)
        return nil
    }

    /// The outcome of a check by the answers so far.
    fileprivate mutating func outcome(of check: Refresher.Check) -> CoverOutcome {
        var (outcome, failure) = (check.outcome, check.failure)
        let now = WallClock.milliseconds()
        let isOtherNight = countsEachTime || check.former?.isOtherNight(now) ?? true
        let isLoss = isOtherNight && failure.isFinalAnswer && answers.showLoss(failure, from: check.origin)
        let wasGone = check.former?.isGone == true
        failure.isGone = EntryAnnotation.Failing.isGone(
            failure, after: check.former, isLoss: isLoss, othersAnswer: answers.haveCover, at: now)
        // The store has counted an absence.
        if isLoss, !failure.isAbsence, failure.kind != .placeholder, !wasGone {
            if let version = check.version { counted.append((failure, check.key, version)) }
            if failure.isGone {
                failure.isNewlyGone = true
                failure.detail += "; gone, as three checks got no cover; the cached one stays"
            }
        }
        outcome.failure = failure
        return outcome
    }
}

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
