import CommandSupport
import CoverLibrary
import Platform

extension RunSummary {
    /// Whether nothing was listed or due.
    var isEmpty: Bool { requested == 0 && remaining == 0 && leftOut == 0 && !isCancelled && stopReason == nil }

    /// The summary as text; empty if nothing was listed or due, which the command explains.
    /// - Parameters:
    ///   - isListKnown: Whether the number of covers that are listed is known. If not, more remain than were counted.
    ///   - sizes: The number of smaller pictures that were made; nil if none were wanted.
    func text(isListKnown: Bool, sizes: Int? = nil) -> String {
        if isEmpty { return "" }
        func count(_ value: Int, _ what: String) -> String? { value > 0 ? "\(Decimals.grouped(value)) \(what)" : nil }
        let same = deduplicated > 0 ? " (\(Decimals.grouped(deduplicated)) already stored)" : ""
        var parts = [
            count(downloaded, "downloaded\(same)"), count(fresh, "cached"), count(revalidated, "unchanged"),
            count(joined, "repeated"), count(skipped, "skipped"),
            count(failed - gone, "failed").map { Terminal.standardOutput.text($0, in: .failure) },
            count(gone, "gone from their servers"),
        ].compactMap(\.self)
        let atLeast = isListKnown ? "" : "at least "
        if isCancelled {
            if remaining > 0 { parts.append("\(atLeast)\(Decimals.grouped(remaining)) to go") }
            let done = parts.isEmpty ? "nothing done yet" : parts.joined(separator: ", ")
            return "Stopped after \(Decimals.text(seconds, 1)) s: \(done). Run again to continue.\n"
        }
        let outcome = parts.joined(separator: ", ")
        let covers = Decimals.count(requested, "cover")
        var text = "\(covers)\(outcome.isEmpty ? "" : ": \(outcome)") in \(Decimals.text(seconds, 2)) s"
        if downloaded > 0 {
            let rate =
                coversPerSecond < 9.95
                ? Decimals.text(coversPerSecond, 1) : Decimals.grouped(Int(coversPerSecond.rounded()))
            text += " · \(rate) covers/s · \(ByteSize(bytes)) at "
            text += "\(ByteSize(Int(bytesPerSecond)))/s"
        }
        if let sizes { text += " · \(Decimals.count(sizes, "smaller picture")) made" }
        if remaining > 0 { text += " · \(atLeast)\(Decimals.grouped(remaining)) left for the next run" }
        if leftOut > 0 {
            text +=
                " · \(Decimals.grouped(leftOut)) left out, got with parameters or header fields that the cache does not keep"
        }
        return text + "\n"
    }

    /// `1,234/5,000 covers · 11,203/s · 340 MiB/s · 2 failed · 0:03 left`, and the same without the rates, then without the failures.
    /// - Parameters:
    ///   - total: the number of covers that are listed; nil until it is known.
    ///   - idle: seconds since a cover has arrived or failed. The rate foretells nothing of covers that take longer than all that are left
    ///     should, as those do whose servers do not answer: they are counted instead.
    func progress(total: Int?, idle: Double = 0) -> [String] {
        let done = settled
        let count = Decimals.grouped(done) + (total.map { "/" + Decimals.grouped($0) } ?? "")
        // What was cached says nothing of how fast covers come.
        let come = done - fresh - joined - skipped
        let rate = seconds > 0 ? Double(come > 0 ? come : done) / seconds : 0
        let failures = failed > 0 ? "\(Decimals.grouped(failed)) failed" : nil
        var end: String?
        if let total, rate > 0, total > done {
            let left = Double(total - done) / rate
            end = left < idle ? "waiting for \(Decimals.grouped(total - done))" : Self.clock(left) + " left"
        }
        let rates = [
            Decimals.grouped(Int(rate)) + "/s", bytes > 0 ? "\(ByteSize(Int(bytesPerSecond)))/s" : nil,
        ]
        let forms = [
            [count + " covers"] + rates + [failures, end], [count + " covers", rates[0], failures, end],
            [count + " covers", failures, end], [count + " covers", end], [count, end],
        ]
        return forms.map { $0.compactMap(\.self).joined(separator: " · ") }
    }

    /// `0:07`, `12:40`, `3:05:00`.
    static func clock(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded(.up))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(two(minutes))" : String(minutes)) + ":" + two(seconds % 60)
    }
}

/// The result of a prefetch or a refresh.
struct CoverRunResult: Encodable {
    private let requested, downloaded, deduplicated, revalidated, fresh, joined, skipped, failed, gone, remaining: Int
    private let leftOut: Int
    /// New covers that were evicted to make room for others.
    private let evicted: Int
    /// Smaller pictures that were made; nil if none were wanted.
    private let sizes: Int?
    private let bytes: Int
    private let seconds, coversPerSecond, bytesPerSecond: Double
    private let peakMemoryBytes: Int
    private let cancelled: Bool
    private let stopReason: String?

    init(_ summary: RunSummary, evicted: Int, sizes: Int?) {
        (requested, downloaded, deduplicated) = (summary.requested, summary.downloaded, summary.deduplicated)
        (revalidated, fresh, joined) = (summary.revalidated, summary.fresh, summary.joined)
        (skipped, failed, gone) = (summary.skipped, summary.failed, summary.gone)
        (remaining, leftOut, self.evicted, self.sizes) = (summary.remaining, summary.leftOut, evicted, sizes)
        (bytes, seconds, coversPerSecond) = (summary.bytes, summary.seconds, summary.coversPerSecond)
        (bytesPerSecond, peakMemoryBytes) = (summary.bytesPerSecond, Self.peakMemory)
        (cancelled, stopReason) = (summary.isCancelled, summary.stopReason)
    }

    /// The peak of the process's resident memory, in bytes.
    private static var peakMemory: Int {
        #if os(Linux)
            // Not getrusage(2): its figure includes that of the parent process before exec.
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1_024
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
