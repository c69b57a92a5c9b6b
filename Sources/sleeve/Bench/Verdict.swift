import CommandSupport
import Platform

/// The bottleneck of a run, with the figure that shows it.
///
/// The mean number of covers in a stage is the sum of their times in it over the run's time (Little's law). Unless a resource is used
/// up, the run waits for the stage that holds most of the requests in flight.
struct Verdict: Equatable {
    enum Bottleneck: Equatable { case failures, line, processor, disk, start, server, bodies, handshakes }

    var bottleneck: Bottleneck
    var text: String

    /// Share of the line's capacity above which it is the bottleneck: headers, TLS and slow start take the rest.
    private static let full = 0.8
    /// Share of the processors' time above which they are the bottleneck.
    private static let busy = 0.9
    /// Share of the wall time before the first byte above which the beginning is the bottleneck.
    private static let slowStart = 0.4
    /// Share of failed covers above which the other figures say little.
    private static let failing = 0.05

    /// - Parameters:
    ///   - capacity: of the line, in bits a second; nil if it is unknown.
    ///   - processors: of this machine.
    /// - Returns: nil if no cover was transferred.
    init?(
        _ rounds: [BenchRound], capacity: Double?, processors: Int = ProcessInfo.processInfo.activeProcessorCount
    ) {
        let timings = rounds.flatMap(\.timings)
        func sum(_ value: (BenchRound) -> Double) -> Double { rounds.reduce(0) { $0 + value($1) } }
        let (time, wall) = (sum(\.transferSeconds), sum(\.process.seconds))
        guard !timings.isEmpty, time > 0, wall > 0 else { return nil }
        func mean(_ stages: CoverStage...) -> Double { Double(timings.reduce(0) { $0 + $1.sum(stages) }) / 1e6 / time }
        func inFlight(_ count: Double) -> String {
            "of \(Self.number(mean(.name, .connect, .tls, .firstByte, .body))) requests in flight on average, \(Self.number(count))"
        }

        let failed = sum { Double($0.failures.count) }
        let failures = failed / (failed + Double(timings.count))
        let bits = sum { Double($0.receivedBytes) } * 8 / time
        let load = sum { ($0.process.machineLoad ?? 0) * $0.process.seconds } / wall
        let beginning = sum(\.secondsToFirstByte)
        let (handshakes, firstByte, body) = (mean(.name, .connect, .tls), mean(.firstByte), mean(.body))
        let store = mean(.storeQueue)

        if failures > Self.failing {
            (bottleneck, text) = (.failures, "failures: \(Self.percent(failures)) of the covers")
        } else if let capacity, bits >= capacity * Self.full {
            bottleneck = .line
            text = "your line: \(Self.megabits(bits)) of \(Self.megabits(capacity)) Mbit/s"
        } else if load >= Self.busy {
            let used = sum(\.process.cpuSeconds) / wall
            bottleneck = .processor
            text =
                "this machine: \(Self.percent(load)) busy; Sleeve used \(Decimals.text(used, 2)) of \(processors) processors"
            if used < load * Double(processors) / 2 {
                text += ", other programs and servers on this machine the rest; measure again when it is idle"
            }
        } else if store > handshakes + firstByte + body {
            bottleneck = .disk
            text = "the disk: \(Self.number(store)) covers on average waited for it, more than were in flight"
        } else if beginning > wall * Self.slowStart {
            bottleneck = .start
            text =
                "the beginning: \(Self.percent(beginning / wall)) of the time passed before the first cover began to arrive"
        } else if firstByte >= max(body, handshakes) {
            bottleneck = .server
            text = "the server and the way to it: \(inFlight(firstByte)) waited for their first byte"
        } else if body >= handshakes {
            bottleneck = .bodies
            text =
                "the server's bandwidth or the line: \(inFlight(body)) were receiving, at \(Self.megabits(bits)) Mbit/s"
        } else {
            bottleneck = .handshakes
            text = "handshakes: \(inFlight(handshakes)) were connecting"
        }
    }

    private static func number(_ value: Double) -> String { Decimals.text(value, value < 10 ? 1 : 0) }
    private static func percent(_ share: Double) -> String { Decimals.text(share * 100, 0) + " %" }
    private static func megabits(_ bits: Double) -> String { Decimals.text(bits / 1e6, bits < 1e7 ? 1 : 0) }
}
