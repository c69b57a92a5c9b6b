import Testing

@testable import LinkEmulator

@Suite
struct LinkModelTests {
    @Test func `a round-trip time and a bandwidth are read with their units`() throws {
        let link = try LinkModel("50ms/200mbit")
        #expect(link == LinkModel(roundTrip: .milliseconds(50), bitsPerSecond: 200_000_000))
        #expect(link.delay == .milliseconds(25))
        #expect(link.transmissionTime(25_000) == .milliseconds(1))
        #expect(try LinkModel("1.5s/64kbit") == LinkModel(roundTrip: .milliseconds(1500), bitsPerSecond: 64_000))
        #expect(try LinkModel("2MS/1Gbit") == LinkModel(roundTrip: .milliseconds(2), bitsPerSecond: 1_000_000_000))
    }

    @Test(arguments: [
        "", "50ms", "50/200mbit", "50ms/200", "50ms/200mb", "200mbit/50ms", "50ms/200mbit/1%", "0ms/1mbit",
        "-5ms/1mbit",
        "nanms/1mbit", "50ms/nanmbit", "11s/1mbit", "50ms/1kbit", "50ms/11gbit", "infs/1mbit", "ms/mbit",
    ])
    func `other values are rejected, with an example`(text: String) {
        let error = #expect(throws: LinkError.self) { try LinkModel(text) }
        #expect(error?.description.hasPrefix("link=\(text): expected") == true)
        #expect(error?.description.contains("50ms/200mbit") == true)
    }

    @Test func `losses are a percentage of at most 50`() throws {
        var link = try LinkModel("50ms/200mbit")
        try link.setLoss("1%")
        #expect(link.loss == 0.01)
        try link.setLoss("0.5")
        #expect(link.loss == 0.005)
        for text in ["", "%", "-1%", "51%", "nan%", "1%%", "a"] {
            #expect(throws: LinkError.self) { try link.setLoss(text) }
        }
        #expect(link.loss == 0.005)
    }
}
