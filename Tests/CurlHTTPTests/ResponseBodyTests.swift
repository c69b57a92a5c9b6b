import Testing

@testable import CurlHTTP

@Suite struct ResponseBodyTests {
    private func pattern(_ seed: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
    }

    @Test("a body grows past what was announced and loses nothing", arguments: [0, 1, 10_000, 3_000_000])
    func growing(expecting: Int) {
        let body = ResponseBody(expecting: expecting)
        var expected: [UInt8] = []
        for (seed, count) in [1, 0, 4_095, 4_096, 70_000, 2_000_000].enumerated() {
            let chunk = pattern(seed, count)
            chunk.withUnsafeBytes { body.append($0) }
            expected += chunk
        }
        #expect(body.count == expected.count)
        #expect(Array(body.bytes) == expected)
    }

    @Test("bodies alive at the same time never share memory, though that of dead ones is used again")
    func reuse() {
        for round in 0..<20 {
            let bodies = (0..<10).map { ResponseBody(pattern(round * 10 + $0, 1_000 * ($0 + 1) * (round % 3 + 1))) }
            for (place, body) in bodies.enumerated() {
                #expect(Array(body.bytes) == pattern(round * 10 + place, 1_000 * (place + 1) * (round % 3 + 1)))
            }
        }
    }
}
