import Testing

@testable import CurlHTTP

@Suite struct BodyMemoryTests {
    private let memory = BodyMemory(limit: 100)

    @Test func `transfers start until the bodies that arrive and those of the others in flight take all memory`() {
        #expect(memory.hasRoom(inFlight: 999, unstored: 0), "nothing is known of their lengths")
        memory.begin(10)
        #expect(memory.hasRoom(inFlight: 9, unstored: 0) && !memory.hasRoom(inFlight: 10, unstored: 0))
        memory.begin(2)
        #expect(memory.hasRoom(inFlight: 15, unstored: 0) && !memory.hasRoom(inFlight: 16, unstored: 0), "six each")
    }

    @Test func `a body that grows beyond its announced length counts as it is, until it ends`() {
        memory.begin(0)
        #expect(memory.hasRoom(inFlight: 1, unstored: 0))
        memory.grow(by: 51)
        #expect(!memory.hasRoom(inFlight: 1, unstored: 0))
        memory.end(51)
        #expect(memory.hasRoom(inFlight: 1, unstored: 0))
    }

    @Test func `bodies that wait to be stored count until they are`() {
        #expect(!memory.hasRoom(inFlight: 0, unstored: 101))
        #expect(memory.hasRoom(inFlight: 0, unstored: 91))
        memory.begin(5)
        #expect(!memory.hasRoom(inFlight: 1, unstored: 91))
    }

    @Test func `a body that is larger than the limit holds up others only while it arrives`() {
        memory.begin(1_000)
        #expect(!memory.hasRoom(inFlight: 1, unstored: 0))
        memory.end(1_000)
        #expect(memory.hasRoom(inFlight: 0, unstored: 0))
    }
}
