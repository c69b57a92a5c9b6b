import HummingbirdCore
import NIOCore

/// Sends bytes at a constant rate.
struct ThrottledBody: Sendable {
    let bytesPerSecond: Int

    /// Writes a piece every twentieth of a second. Times count from the start, so that late timers do not add up.
    func write(_ bytes: ByteBuffer, to body: inout any ResponseBodyWriter, on connection: Connection) async throws {
        let start = ContinuousClock.now
        let pieceLength = max(1, min(bytesPerSecond / 20, 1 << 20))
        var remaining = bytes
        var sent = 0
        while remaining.readableBytes > 0,
            let piece = remaining.readSlice(length: min(pieceLength, remaining.readableBytes))
        {
            sent += piece.readableBytes
            let due = start + .seconds(Double(sent) / Double(bytesPerSecond))
            let wait = due - ContinuousClock.now
            if wait > .zero { try await connection.pause(wait) }
            try await body.write(piece)
        }
    }
}
