import Testing

@testable import Platform

@Suite struct WriteAllTests {
    @Test func `all bytes pass through a pipe that holds fewer`() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        WorkThread.start {
            _ = bytes.withUnsafeBytes { writeAll($0, to: writer) }
            close(writer)
        }
        let received = await withCheckedContinuation { continuation in
            WorkThread.start {
                var (received, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
                while case let count = read(reader, &chunk, chunk.count), count > 0 { received += chunk[..<count] }
                close(reader)
                continuation.resume(returning: received)
            }
        }
        let isSame = received == bytes
        #expect(isSame)
    }

    @Test func `a descriptor that cannot be written is an error, unless there is nothing to write`() {
        let byte: [UInt8] = [1]
        #expect(byte.withUnsafeBytes { !writeAll($0, to: -1) } && errno == EBADF)
        #expect(writeAll(UnsafeRawBufferPointer(start: nil, count: 0), to: -1))
    }
}
