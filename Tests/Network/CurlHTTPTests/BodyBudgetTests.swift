import Testing

@testable import CurlHTTP

@Suite struct BodyBudgetTests {
    private let mebibyte = 1 << 20

    @Test func `large bodies reserve their lengths up to the limit, and small ones are not counted`() {
        let budget = BodyBudget(limit: 10 * mebibyte)
        #expect(
            budget.admits(5 * mebibyte, of: 1, canPause: true) && budget.admits(5 * mebibyte, of: 2, canPause: true))
        #expect(!budget.admits(2 * mebibyte, of: 3, canPause: true))
        #expect(budget.admits(mebibyte, of: 4, canPause: true) && budget.admits(5 * mebibyte, of: 2, canPause: true))
        #expect(budget.toResume().isEmpty)
        budget.end(1)
        #expect(budget.toResume() == [3] && budget.toResume().isEmpty)
        #expect(budget.admits(2 * mebibyte, of: 3, canPause: true))
    }

    @Test func `the oldest large body goes on beyond the limit, also when it grows`() {
        let budget = BodyBudget(limit: 4 * mebibyte)
        for length in 2...9 { #expect(budget.admits(length * mebibyte, of: 1, canPause: true)) }
        #expect(
            !budget.admits(2 * mebibyte, of: 3, canPause: true) && !budget.admits(2 * mebibyte, of: 2, canPause: true))
        budget.end(1)
        #expect(budget.toResume() == [2, 3])
        #expect(
            budget.admits(6 * mebibyte, of: 2, canPause: true) && !budget.admits(2 * mebibyte, of: 3, canPause: true))
    }

    @Test func `bodies that wait to be stored count until they are`() {
        let budget = BodyBudget(limit: 4 * mebibyte)
        budget.unstored = 3 * mebibyte
        #expect(!budget.admits(2 * mebibyte, of: 1, canPause: true), "even the oldest waits: they will be stored")
        budget.unstored = 0
        #expect(budget.toResume() == [1])
        #expect(budget.admits(2 * mebibyte, of: 1, canPause: true))
    }

    @Test func `a body over HTTP/2 is put off, and as few of its length start as have room`() {
        let budget = BodyBudget(limit: 10 * mebibyte)
        #expect(budget.mayStart(inFlight: 99))
        #expect(
            budget.admits(4 * mebibyte, of: 1, canPause: false) && budget.admits(4 * mebibyte, of: 2, canPause: false))
        #expect(!budget.admits(4 * mebibyte, of: 3, canPause: false))
        #expect(budget.toResume().isEmpty, "it has ended")
        #expect(budget.mayStart(inFlight: 7) && !budget.mayStart(inFlight: 8), "at least eight")
        budget.unstored = 4 * mebibyte
        #expect(budget.mayStart(inFlight: 3) && !budget.mayStart(inFlight: 4))
        budget.unstored = 0
        for transfer in 1...10_000 { budget.end(Transfer.ID(transfer)) }
        #expect(budget.mayStart(inFlight: 99), "small ones have ended since")
    }
}
