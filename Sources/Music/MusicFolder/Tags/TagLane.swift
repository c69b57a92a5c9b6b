import Platform

/// Reads and copies files by a worker process, and replaces the worker when a file ends it. Used by one thread, which must block SIGPIPE.
package final class TagLane {
    /// The worker could not be started, or ended before it was ready.
    package struct Unavailable: Error, CustomStringConvertible {
        package var description: String
    }

    private struct Worker {
        var process: TagWorkerProcess
        var input, output: Int32
        var isReady = false
        var buffer: [UInt8] = []
    }

    /// Requests that a worker may have been sent without having answered. They fit into a pipe, so writing them never blocks.
    private static let maximumUnanswered = 64
    private static let maximumUnansweredBytes = 16 << 10
    /// The time for a file is waited for in this number of parts, of which one may end at once when a stopped process goes on.
    private static let parts = 10

    private let start: TagWorkerProcess.Start
    private let timeout: Duration
    private let isCancelled: @Sendable () -> Bool
    private var worker: Worker?

    /// - Parameters:
    ///   - start: Starts a worker.
    ///   - timeout: For one file.
    ///   - isCancelled: Called at least ten times in each `timeout`. True makes `read` return early.
    package init(
        start: @escaping TagWorkerProcess.Start, timeout: Duration,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.start, self.timeout, self.isCancelled) = (start, timeout, isCancelled)
    }

    deinit { end(kills: true) }

    /// Reads files.
    /// - Returns: A result for each; fewer if `isCancelled` is true.
    /// - Throws: `Unavailable`.
    func read(_ paths: [BytePath]) throws(Unavailable) -> [Result<AudioTags, TagFailure>] {
        try exchange(paths.map { .read(path: $0) }, timeout).map { answer in
            answer.flatMap { line in
                let answer = TagAnswer(line: line)
                return answer?.tags.map { .success($0) } ?? .failure(answer?.failure ?? .unreadable)
            }
        }
    }

    /// Makes a changed copy of a file.
    /// - Parameter length: Of the file, in bytes: a copy may take a second more for each mebibyte.
    /// - Returns: nil if `isCancelled` is true.
    /// - Throws: `Unavailable`.
    func change(
        _ change: TagChange, length: Int
    ) throws(Unavailable) -> Result<ChangeOutcome, TagFailure>? {
        try exchange([.change(change)], timeout + .seconds(length >> 20)).first.map { answer in
            answer.flatMap { line in ChangeOutcome(line: line).map { .success($0) } ?? .failure(.unreadable) }
        }
    }

    /// The digest of a song's audio, whatever its tags say; nil if it cannot be read.
    /// - Throws: `Unavailable`, or `CancellationError` if `isCancelled` is true.
    func audio(of song: BytePath) throws -> Digest? {
        guard let outcome = try change(TagChange(path: song, copy: song, action: .listen), length: song.length) else {
            throw CancellationError()
        }
        if case .success(.made(let audio)) = outcome { return audio }
        return nil
    }

    /// Sends requests, and returns an answer for each, as for `read`.
    /// - Parameter timeout: For one of them; not below that of the lane.
    private func exchange(
        _ requests: [TagRequest], _ timeout: Duration
    ) throws(Unavailable) -> [Result<[UInt8], TagFailure>] {
        let requests = requests.map { TagLine.bytes($0) }
        var results: [Result<[UInt8], TagFailure>] = []
        results.reserveCapacity(requests.count)
        let maximumParts = Int((timeout / self.timeout * Double(Self.parts)).rounded(.up))
        var (sent, parts) = (0, 0)
        while results.count < requests.count, !isCancelled() {
            if worker == nil {
                worker = try launch()
                (sent, parts) = (results.count, 0)
            }
            send(requests, from: &sent, answered: results.count)
            switch receive() {
            case .bytes:
                let before = results.count
                results += answers(limit: sent - before)
                if results.count > before { parts = 0 }
            case .nothing:
                parts += 1
                if parts < maximumParts { continue }
                if worker?.isReady != true { throw unavailable("does not answer") }
                end(kills: true)
                results.append(
                    .failure(.init(reason: "took longer than \(timeout.components.seconds) s", isTransient: true)))
            case .end:
                let isReady = worker?.isReady ?? false
                let status = end(kills: false)
                guard isReady else { throw unavailable("ended with exit code \(status)") }
                results.append(.failure(Self.failure(status)))
            }
        }
        if results.count < requests.count { end(kills: true) }
        return results
    }

    private func unavailable(_ reason: String) -> Unavailable {
        end(kills: true)
        return Unavailable(description: "the process that reads tags \(reason)")
    }

    /// Why a file ended its worker.
    private static func failure(_ status: Int32) -> TagFailure {
        switch status {
        case 128 + SIGALRM: TagFailure(reason: "took too long", isTransient: true)
        case 128 + SIGKILL, 128 + SIGTERM, 128 + SIGINT, 128 + SIGHUP:
            // The system's lack of memory, or a person.
            TagFailure(reason: "its parser was ended by signal \(status - 128)", isTransient: true)
        case 129...: TagFailure(reason: "crashed its parser (signal \(status - 128))")
        default: TagFailure(reason: "ended its parser (exit code \(status))")
        }
    }

    // MARK: The worker

    private func launch() throws(Unavailable) -> Worker {
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&input) == 0 else { throw Unavailable(description: "\(SystemError("pipe"))") }
        guard pipe(&output) == 0 else {
            let error = SystemError("pipe")
            for end in input { close(end) }
            throw Unavailable(description: "\(error)")
        }
        for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in [input[0], output[1]] { close(end) } }
        do {
            return Worker(process: try start(input[0], output[1]), input: input[1], output: output[0])
        } catch {
            for end in [input[1], output[0]] { close(end) }
            throw Unavailable(description: "\(error)")
        }
    }

    /// Ends the worker, if there is one. - Returns: Its exit code; 0 if it was killed.
    @discardableResult
    private func end(kills: Bool) -> Int32 {
        guard let worker else { return 0 }
        self.worker = nil
        close(worker.input)
        close(worker.output)
        if !kills { return worker.process.wait() }
        worker.process.kill()
        // A process that waits for a disk cannot be killed before the disk answers.
        WorkThread.start { _ = worker.process.wait() }
        return 0
    }

    /// Sends as many requests as the worker may have without an answer. If it has ended, `receive` says so.
    private func send(_ requests: [[UInt8]], from sent: inout Int, answered: Int) {
        // One write for several requests.
        guard let worker, sent - answered <= Self.maximumUnanswered / 2 else { return }
        var unanswered = requests[answered..<sent].reduce(0) { $0 + $1.count }
        var bytes: [UInt8] = []
        while sent < requests.count, sent - answered < Self.maximumUnanswered {
            if sent > answered, unanswered + requests[sent].count > Self.maximumUnansweredBytes { break }
            bytes += requests[sent]
            unanswered += requests[sent].count
            sent += 1
        }
        if !bytes.isEmpty { _ = bytes.withUnsafeBytes { writeAll($0, to: worker.input) } }
    }

    private enum Received { case bytes, nothing, end }

    /// Waits for a part of the time for a file.
    private func receive() -> Received {
        guard let output = worker?.output else { return .end }
        var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        let code = poll(&wait, 1, Int32(max(1, timeout / .milliseconds(Self.parts))))
        if code == 0 || code < 0 && errno == EINTR { return .nothing }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            let count = readSome(buffer, from: output)
            guard count > 0 else { return .end }
            worker?.buffer += buffer[..<count]
            return .bytes
        }
    }

    /// Takes the complete answers out of the buffer.
    private func answers(limit: Int) -> [Result<[UInt8], TagFailure>] {
        guard var worker else { return [] }
        defer { self.worker = worker }
        var lines = TagLine.take(from: &worker.buffer)[...]
        if !worker.isReady { worker.isReady = lines.popFirst() != nil }
        return lines.prefix(limit).map { .success($0) }
    }
}
