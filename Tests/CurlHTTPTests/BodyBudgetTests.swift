import Testing

@testable import CurlHTTP

@Suite struct BodyBudgetTests {
    private let mebibyte = 1 << 20

    @Test func `large bodies reserve their lengths up to the limit, and small ones are not counted`() {
        let budget = BodyBudget(limit: 10 * mebibyte)
        #expect(budget.admits(5 * mebibyte, of: 1, canWait: true) && budget.admits(5 * mebibyte, of: 2, canWait: true))
        #expect(!budget.admits(2 * mebibyte, of: 3, canWait: true))
        #expect(budget.admits(mebibyte, of: 4, canWait: true) && budget.admits(5 * mebibyte, of: 2, canWait: true))
        #expect(budget.toResume().isEmpty)
        budget.end(1)
        #expect(budget.toResume() == [3] && budget.toResume().isEmpty)
        #expect(budget.admits(2 * mebibyte, of: 3, canWait: true))
    }

    @Test func `the oldest large body goes on beyond the limit, also when it grows`() {
        let budget = BodyBudget(limit: 4 * mebibyte)
        for length in 2...9 { #expect(budget.admits(length * mebibyte, of: 1, canWait: true)) }
        #expect(
            !budget.admits(2 * mebibyte, of: 3, canWait: true) && !budget.admits(2 * mebibyte, of: 2, canWait: true))
        budget.end(1)
        #expect(budget.toResume() == [2, 3])
        #expect(budget.admits(6 * mebibyte, of: 2, canWait: true) && !budget.admits(2 * mebibyte, of: 3, canWait: true))
    }

    @Test func `bodies that wait to be stored count until they are`() {
        let budget = BodyBudget(limit: 4 * mebibyte)
        budget.unstored = 3 * mebibyte
        #expect(!budget.admits(2 * mebibyte, of: 1, canWait: true), "even the oldest waits: they will be stored")
        #expect(budget.admits(2 * mebibyte, of: 3, canWait: false), "HTTP/2")
        budget.unstored = 0
        #expect(budget.toResume() == [1])
        #expect(budget.admits(2 * mebibyte, of: 1, canWait: true))
    }
}
