import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Carries answers out: waits, writes, hangs up.
struct Responder: Sendable {
    private let decision: Decision
    private let ledger: Ledger
    private let mostInFlight: Int

    init(options: OriginOptions, ledger: Ledger) {
        decision = Decision(options: options, ledger: ledger)
        self.ledger = ledger
        mostInFlight = options.mostInFlight ?? .max
    }

    /// - Throws: when the connection is closed; Hummingbird then forgets it.
    func respond(to whole: Request, on connection: Connection, with writer: consuming ResponseWriter) async throws {
        let request = whole.head
        let target = request.path ?? "/"
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let path = mark.map { target[..<$0] } ?? target[...]
        let query = mark.map { target[target.utf8.index(after: $0)...] }
        if path == "/counts" { return try await send(counts, on: connection, with: writer) }
        let number = ledger.begin(path: path)
        defer { ledger.end() }
        var answer: Answer
        if ledger.load > mostInFlight {
            ledger.overruns.add(1, ordering: .relaxed)
            answer = .text(429, "no more than \(mostInFlight) at a time\n")
        } else if AlbumShelf.answers(path) {
            let body = try await whole.body.collect(upTo: AlbumShelf.largestBody)
            answer = ledger.albums.answer(request, path: path, body: Array(body.readableBytesView))
        } else {
            answer = decision.answer(request, path: path, query: query, number: number)
        }
        if answer.head.status == .partialContent { ledger.parts.add(1, ordering: .relaxed) }
        if answer.delay > .zero { try await connection.pause(answer.delay) }
        if let line = ledger.line, case .bytes(let bytes, _) = answer.body {
            try await connection.pause(line.time(for: bytes.readableBytes))
        }
        if answer.isHeld { try await connection.wait(for: ledger.gate.futureResult) }
        answer.head.headerFields.append(HTTPField(name: .date, value: HTTPDate.now()))
        try await send(answer, on: connection, with: writer)
    }

    /// What has been asked for so far, for whoever measures.
    private var counts: Answer {
        let requests = ledger.requests.load(ordering: .relaxed), overruns = ledger.overruns.load(ordering: .relaxed)
        return .text(
            200, #"{"requests":\#(requests),"overruns":\#(overruns),"inFlight":\#(ledger.load)}"#,
            type: "application/json")
    }

    private func send(_ answer: Answer, on connection: Connection, with writer: consuming ResponseWriter) async throws {
        switch answer.body {
        case .none:
            try await writer.write(response: answer.head, body: ResponseBody())
        case .bytes(let bytes, perSecond: nil):
            try await writer.write(response: answer.head, body: ResponseBody(byteBuffer: bytes))
        case .bytes(let bytes, let rate?):
            var body: any ResponseBodyWriter = try await writer.writeHead(answer.head)
            try await Pace(bytesPerSecond: rate).write(bytes, to: &body, on: connection)
            try await body.finish(nil)
        case .cut(let bytes):
            var body = try await writer.writeHead(answer.head)
            try await body.write(bytes)
            try await connection.finish()
        case .endless(let bytes, let rate):
            var body: any ResponseBodyWriter = try await writer.writeHead(answer.head)
            let pace = rate.map { Pace(bytesPerSecond: $0) }
            var next = bytes
            while connection.channel.isActive {
                // A write returns when the socket has room again, so a client that does not read costs no memory.
                if let pace {
                    try await pace.write(next, to: &body, on: connection)
                } else {
                    try await body.write(next)
                }
                next = Self.filler
                // Writing need not suspend, and this is the event loop's thread: others get a turn, and so does the news
                // that the client has gone, without which writes to a closed channel seem to succeed.
                await Task.yield()
            }
            throw Connection.HungUp()
        case .reset: try await connection.reset()
        case .close: try await connection.finish()
        case .never: try await connection.untilClosed()
        }
    }

    private static let filler = ByteBuffer(repeating: 0x20, count: 65_536)
}

/// Sends a body at a steady speed.
struct Pace: Sendable {
    let bytesPerSecond: Int

    /// Writes in pieces of a twentieth of a second. Time is counted from the beginning, so that late timers do not add up.
    func write(_ bytes: ByteBuffer, to body: inout any ResponseBodyWriter, on connection: Connection) async throws {
        let start = ContinuousClock.now
        let piece = max(1, min(bytesPerSecond / 20, 1 << 20))
        var rest = bytes
        var sent = 0
        while let slice = rest.readSlice(length: min(piece, rest.readableBytes)), slice.readableBytes > 0 {
            sent += slice.readableBytes
            let due = start + .seconds(Double(sent) / Double(bytesPerSecond))
            let wait = due - ContinuousClock.now
            if wait > .zero { try await connection.pause(wait) }
            try await body.write(slice)
        }
    }
}
