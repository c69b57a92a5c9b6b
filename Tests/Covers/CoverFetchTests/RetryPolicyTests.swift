import CurlHTTP
import Testing

@testable import CoverFetch

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy(retries: 3)

    private func decide(
        _ kind: CoverFailure.Kind = .connect, status: Int? = nil, retryAfter: Duration? = nil, attempt: Int = 0,
        random: Double = 1
    ) -> RetryPolicy.Decision {
        var failure = CoverFailure(kind, url: "", detail: "", status: status)
        failure.retryAfter = retryAfter
        return policy.decide(failure, attempt: attempt, random: random)
    }

    @Test func `transient statuses are retried, others are not`() {
        let transient = [408, 420, 425, 429, 430, 500, 502, 503, 504, 506, 507, 509, 510, 511, 529, 561, 599, 600, 999]
        for status in transient {
            #expect(decide(.status, status: status) == .retry(after: .milliseconds(250)), "\(status)")
        }
        for status in [400, 401, 403, 404, 410, 444, 451, 499, 501, 505, 304, 202] {
            #expect(decide(.status, status: status) == .giveUp, "\(status)")
        }
    }

    @Test(arguments: CoverFailure.Kind.allCases)
    func `failures of the connection and quota messages are retried, other failures are not`(kind: CoverFailure.Kind) {
        let isTransient = [.connect, .broken, .nameResolution, .timeout, .truncated, .overQuota, .outOfResources]
            .contains(kind)
        #expect(decide(kind) == (isTransient ? .retry(after: .milliseconds(250)) : .giveUp))
    }

    @Test(arguments: TransferError.Kind.allCases)
    func `a failed transfer has the kind of its error; programs need none for codings`(kind: TransferError.Kind) {
        var error = TransferError(kind, url: "https://a.example/1", detail: "")
        if kind == .other { error.name = "offline" }
        let names = [TransferError.Kind.coding: "notAnImage", .other: "offline"]
        #expect(CoverFailure(error).kind.rawValue == names[kind] ?? kind.rawValue)
    }

    @Test func `after the last retry the cover fails; without retries at once`() {
        #expect(decide(attempt: 2) != .giveUp)
        #expect(decide(attempt: 3) == .giveUp)
        let none = RetryPolicy(retries: 0)
        #expect(
            none.decide(CoverFailure(.timeout, url: "", detail: ""), attempt: 0, random: 1) == .giveUp)
    }

    @Test
    func `the upper bound of the delay doubles with every attempt up to the cap, and the delay is a random part of it`()
    {
        let policy = RetryPolicy(retries: 1_000)
        func wait(_ attempt: Int, _ random: Double) -> RetryPolicy.Decision {
            policy.decide(CoverFailure(.connect, url: "", detail: ""), attempt: attempt, random: random)
        }
        #expect([0, 1, 2, 3].map { wait($0, 1) } == [250, 500, 1_000, 2_000].map { .retry(after: .milliseconds($0)) })
        #expect(wait(2, 0.5) == .retry(after: .milliseconds(500)))
        #expect(wait(2, 0) == .retry(after: .zero))
        #expect([7, 20, 63, 64, 999].map { wait($0, 1) } == Array(repeating: .retry(after: .seconds(30)), count: 5))
    }

    @Test func `a retry is never earlier than Retry-After, and later only by the back-off`() {
        #expect(decide(.status, status: 503, retryAfter: .seconds(7)) == .retry(after: .seconds(7)))
        #expect(decide(.status, status: 503, retryAfter: .zero, random: 0) == .retry(after: .zero))
        #expect(decide(.status, status: 429, retryAfter: .milliseconds(100)) == .retry(after: .milliseconds(250)))
        #expect(decide(.status, status: 503, retryAfter: .seconds(120)) == .retry(after: .seconds(120)))
    }

    @Test(arguments: [202, 304, 401, 403, 404, 409, 410, 423, 444, 501])
    func `any status with a Retry-After is retried after it, and one of 0 s asks for nothing`(status: Int) {
        #expect(decide(.status, status: status, retryAfter: .seconds(1)) == .retry(after: .seconds(1)))
        #expect(decide(.status, status: status, retryAfter: .zero) == .giveUp)
    }

    @Test func `a page with a Retry-After instead of the picture is retried`() {
        #expect(decide(.notAnImage, status: 200, retryAfter: .seconds(1)) == .retry(after: .seconds(1)))
    }

    @Test func `a Retry-After above the limit ends the retries`() {
        #expect(decide(.status, status: 503, retryAfter: .seconds(121)) == .tooLong(.seconds(121)))
        #expect(decide(.status, status: 404, retryAfter: .seconds(121)) == .tooLong(.seconds(121)))
        #expect(decide(.status, status: 404) == .giveUp)
        #expect(decide(.status, status: 503, retryAfter: .seconds(121), attempt: 3) == .giveUp)
    }
}
