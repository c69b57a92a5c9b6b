import CoverFetch
import Testing

@testable import CoverLibrary

@Suite struct RunAnswersTests {
    /// Milliseconds.
    private static let day: Int64 = 86_400_000
    private let now: Int64 = 1_000 * day

    private func failure(
        _ kind: CoverFailure.Kind, status: Int? = nil, retryAfter: Duration? = nil
    ) -> CoverFailure {
        var failure = CoverFailure(kind, url: "https://a.example/1.jpg", detail: "no", status: status)
        failure.retryAfter = retryAfter
        return failure
    }

    private func isGone(
        _ failure: CoverFailure, after former: EntryAnnotation.Failing?, isLoss: Bool = true, others: Bool = true
    ) -> Bool {
        // As the cache keeps it.
        let kept = former.flatMap { EntryAnnotation.failures(in: EntryAnnotation.failing($0).line) }
        #expect(kept == former)
        return EntryAnnotation.Failing.isGone(failure, after: kept, isLoss: isLoss, othersAnswer: others, at: now)
    }

    private func failing(_ answers: [CoverFailure], count: Int? = nil, since days: Int64 = 0) -> EntryAnnotation.Failing
    {
        var failing = EntryAnnotation.Failing(last: now, first: now - days * Self.day, count: count ?? answers.count)
        for answer in answers { failing.add(answer, at: now) }
        return failing
    }

    @Test
    func
        `a cover is gone with its second 404, a host after two weeks or, while others answer, with its fourth failure`()
    {
        for status in [404, 410] {
            #expect(!isGone(failure(.status, status: status), after: nil))
            let absence = failure(.status, status: status)
            #expect(!isGone(absence, after: failing([], count: 1)), "the server was away before")
            #expect(isGone(absence, after: failing([absence]), others: false))
            let later = failure(.status, status: status, retryAfter: .seconds(1))
            #expect(!isGone(later, after: failing([], count: 1)), "not yet")
        }
        for kind in [CoverFailure.Kind.nameResolution, .connect, .timeout, .tls, .notTried] {
            #expect(!isGone(failure(kind), after: failing([], count: 2)))
            #expect(isGone(failure(kind), after: failing([], count: 3)) == (kind != .timeout))
            let away = failing([], count: 99, since: 13)
            #expect(!isGone(failure(kind), after: away, others: false), "this machine may be offline")
            #expect(isGone(failure(kind), after: failing([], count: 1, since: 15), others: false))
        }
    }

    static let finalAnswers: [(CoverFailure.Kind, Int?)] = [
        (.status, 400), (.status, 401), (.status, 403), (.status, 451), (.status, 204), (.notAnImage, 200),
        (.notStorable, nil), (.tooManyRedirects, nil), (.refusedAddress, nil),
    ]

    @Test(arguments: finalAnswers)
    func `a cover is gone with its third final answer, whichever they are, and stays so whatever fails then`(
        kind: CoverFailure.Kind, status: Int?
    ) {
        let answer = failure(kind, status: status)
        #expect(!isGone(answer, after: nil) && !isGone(answer, after: failing([answer])))
        #expect(!isGone(answer, after: failing([answer, answer]), isLoss: false))
        #expect(!isGone(answer, after: failing([], count: 99, since: 99)), "those were temporary failures")
        for other in Self.finalAnswers.map({ failure($0.0, status: $0.1) }) {
            #expect(isGone(answer, after: failing([other, answer])))
        }
        let gone = failing([answer, answer, answer])
        #expect(isGone(answer, after: gone, isLoss: false) && isGone(failure(.timeout), after: gone, others: false))
        #expect(isGone(failure(.status, status: 503), after: gone))
    }

    @Test func `temporary failures and those of this machine are no answers about a cover`() {
        let temporary = [500, 501, 503, 407, 408, 425, 429].map { failure(.status, status: $0) }
        let others = [CoverFailure.Kind.timeout, .connect, .broken, .truncated, .overQuota, .tooLarge, .outOfResources]
        let pauses = [401, 403, 451].map { failure(.status, status: $0, retryAfter: .seconds(1)) }
        let page = failure(.notAnImage, status: 200, retryAfter: .seconds(1))
        for failure in temporary + others.map({ failure($0) }) + pauses + [page] {
            #expect(!failure.isFinalAnswer, "\(failure)")
            #expect(!isGone(failure, after: failing([], count: 2)), "\(failure)")
        }
    }

    @Test func `answers are of different nights if 16 hours are between them, or a clock was wrong`() {
        let hour = Self.day / 24
        func isOtherNight(_ time: Int64?) -> Bool {
            var failing = EntryAnnotation.Failing(last: now, first: now)
            if let time { failing.add(failure(.status, status: 403), at: time) }
            return failing.isOtherNight(now)
        }
        #expect(isOtherNight(nil) && isOtherNight(now - 16 * hour) && isOtherNight(now + 1))
        #expect(!isOtherNight(now) && !isOtherNight(now - 15 * hour))
    }

    // MARK: Bans and portals

    private func answers(_ outcomes: [(CoverOutcome, origin: Substring)]) -> RunAnswers {
        outcomes.reduce(into: RunAnswers()) { $0.add($1.0, from: $1.origin) }
    }

    private func forbidden(_ count: Int, _ origin: Substring) -> [(CoverOutcome, origin: Substring)] {
        Array(repeating: (CoverOutcome(failed: failure(.status, status: 403)), origin), count: count)
    }

    @Test func `eight covers of a host that are answered 403, and none otherwise, are a ban`() {
        let refusal = failure(.status, status: 403)
        #expect(answers(forbidden(7, "a")).showLoss(refusal, from: "a"))
        let ban = answers(forbidden(8, "a") + [(CoverOutcome(.downloaded, url: ""), "b")])
        #expect(!ban.showLoss(refusal, from: "a") && !ban.decide(refusal, from: "a"))
        for other in [200, 404, 401] {
            let outcome =
                other == 200
                ? CoverOutcome(.revalidated, url: "") : CoverOutcome(failed: failure(.status, status: other))
            for outcomes in [forbidden(20, "a") + [(outcome, "a")], [(outcome, "a")] + forbidden(20, "a")] {
                let answered = answers(outcomes)
                #expect(answered.showLoss(refusal, from: "a") && answered.decide(refusal, from: "a"), "\(other)")
            }
        }
        let temporary = CoverOutcome(failed: failure(.status, status: 503))
        #expect(!answers(forbidden(8, "a") + [(temporary, "a")]).showLoss(refusal, from: "a"))
        // Expired signatures say neither that it bans nor that it does not.
        var expired = refusal
        expired.hasExpiredSignature = true
        let signed = (CoverOutcome(failed: expired), origin: "a" as Substring)
        let mixed = answers(Array(repeating: signed, count: 20) + forbidden(8, "a"))
        #expect(mixed.showLoss(expired, from: "a") && mixed.decide(expired, from: "a"))
        #expect(!mixed.showLoss(refusal, from: "a") && !mixed.decide(refusal, from: "a"))
        // A host that wants a sign-in for everything has lost its covers.
        let walled = answers((0..<20).map { _ in (CoverOutcome(failed: failure(.status, status: 401)), "a") })
        #expect(walled.showLoss(failure(.status, status: 401), from: "a"))
    }

    @Test func `if all answers of a run, of several, are pages, a captive portal gives them`() {
        let page = failure(.notAnImage, status: 200)
        func pages(_ count: Int) -> [(CoverOutcome, origin: Substring)] {
            (0..<count).map { (CoverOutcome(failed: page), "\($0)") }
        }
        #expect(answers(pages(1)).showLoss(page, from: "0"), "there is nothing to compare it with")
        #expect(!answers(pages(2)).showLoss(page, from: "0") && !answers(pages(2)).decide(page, from: "0"))
        for other in [CoverOutcome(.downloaded, url: ""), CoverOutcome(failed: failure(.status, status: 403))] {
            let answered = answers(pages(9) + [(other, "a")])
            #expect(answered.showLoss(page, from: "0") && answered.decide(page, from: "0"))
        }
        let temporary = CoverOutcome(failed: failure(.timeout))
        #expect(!answers(pages(2) + [(temporary, "a")]).showLoss(page, from: "0"))
    }
}
