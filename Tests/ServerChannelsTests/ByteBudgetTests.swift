import Testing

@testable import ServerChannels

@Suite(.timeLimit(.minutes(1))) struct ByteBudgetTests {
    @Test func `bytes are free again when their reservation is released`() async {
        let budget = ByteBudget(limit: 10, timeout: .zero)
        var held = await budget.reserve(7)
        #expect(held != nil && budget.used == 7)
        #expect(await budget.reserve(4) == nil, "there is no room, and no time to wait")
        held = nil
        #expect(budget.used == 0)
        #expect(await budget.reserve(10) != nil)
    }

    @Test func `a reservation waits for room, and a small one does not wait for a large one`() async throws {
        let budget = ByteBudget(limit: 10, timeout: .seconds(3_600))
        var first = await budget.reserve(6)
        var second = await budget.reserve(2)
        async let large = budget.reserve(9)
        while budget.waitingCount < 1 { await Task.yield() }
        var small = await budget.reserve(2)
        #expect(small != nil && budget.waitingCount == 1)
        async let medium = budget.reserve(5) != nil
        while budget.waitingCount < 2 { await Task.yield() }
        first = nil
        #expect(first == nil)
        #expect(await medium, "the large one still waits")
        #expect(second != nil && budget.waitingCount == 1)
        (second, small) = (nil, nil)
        #expect(second == nil && small == nil)
        #expect(await large != nil)
    }

    @Test func `a reservation shrinks, and grows if there is room`() async throws {
        let budget = ByteBudget(limit: 10, timeout: .seconds(3_600))
        let held = try #require(await budget.reserve(8))
        async let waiting = budget.reserve(6)
        while budget.waitingCount < 1 { await Task.yield() }
        #expect(held.resize(to: 3) && held.resize(to: 3))
        let other = try #require(await waiting)
        #expect(budget.used == 9 && held.resize(to: 4) && !held.resize(to: 5) && budget.used == 10)
        withExtendedLifetime(other) {}
    }

    @Test func `more than the limit is reserved when nothing else is held`() async {
        let budget = ByteBudget(limit: 10, timeout: .zero)
        let held = await budget.reserve(1_000)
        #expect(held != nil && budget.used == 10)
        withExtendedLifetime(held) {}
    }

    @Test func `a reservation grows while there is room`() async {
        let budget = ByteBudget(limit: 10, timeout: .zero)
        let held = budget.reservation()
        #expect(held.grow(by: 6) && held.grow(by: 4) && !held.grow(by: 1) && budget.used == 10)
        #expect(!held.grow(by: .max), "a number that cannot be added is no reason to end")
        withExtendedLifetime(held) {}
    }
}
