package import Platform

/// The thread that runs libcurl, and the executor of every actor that uses it.
///
/// libcurl allows one thread per multi handle. Actors on this executor keep that rule at compile time, and calls between them
/// cost no hop. Nothing on this thread may block.
// because: only the thread touches `running` and `events`.
package final class CurlEventLoop: ThreadExecutor, @unchecked Sendable {
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private var running: CurlMulti?
    private var events: [Poller.Event] = []

    /// - Throws: `SystemError` if the process has no descriptor left.
    package init(configuration: HTTPClientConfiguration) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        do throws(SystemError) {
            running = try CurlMulti(configuration: configuration)
        } catch {
            for end in ends { close(end) }
            throw error
        }
        running?.poller.setInterest(.read, on: wakeReader)
        super.init()
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// What the actors on this thread use of libcurl; nil after `shutdown`.
    package var multi: CurlMulti? {
        checkIsolated()
        return running
    }

    override package func waitForEvents(until deadline: ContinuousClock.Instant?) {
        guard let multi = running else { return }
        // Sends the requests of the transfers just added.
        multi.actOnTimer()
        // A short response may already be complete; no event would announce it.
        if multi.completeEnded() { return }
        multi.poller.wait(milliseconds: timeout(deadline, multi.deadline, multi.nextLook), into: &events)
        // Reads everything that has arrived before anything new is requested: alternating with the server for each cover costs
        // more in context switches than it gains.
        for event in events {
            if event.socket == wakeReader { drainWakes() } else { multi.act(on: event) }
        }
        multi.lookAtProgress()
        multi.actOnTimer()
        _ = multi.completeEnded()
    }

    /// Milliseconds until the earlier deadline, rounded up: waking early would spin. -1 for none.
    private func timeout(_ deadlines: ContinuousClock.Instant?...) -> Int32 {
        if hasJobs { return 0 }
        guard let soonest = deadlines.compactMap({ $0 }).min() else { return -1 }
        let left = ContinuousClock.Instant.now.duration(to: soonest)
        return left <= .zero ? 0 : Int32(clamping: left.inMilliseconds + 1)
    }

    override package func wake() {
        var byte: UInt8 = 1
        _ = write(wakeWriter, &byte, 1)
    }

    private func drainWakes() {
        var bytes: UInt64 = 0
        _ = read(wakeReader, &bytes, 8)
    }

    /// Cancels every transfer.
    override package func stop() {
        guard let multi = running.take() else { return }
        let ends = multi.removeAll().map { $0.cancel() }
        multi.close()
        for end in ends { end.completion?(end.result) }
    }
}
