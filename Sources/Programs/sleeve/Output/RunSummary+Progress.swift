import CommandSupport
import CoverLibrary

extension RunSummary {
    /// `1,234/5,000 covers · 11,203/s · 340 MiB/s · 2 failed · 0:03 left`, and the same without the rates, then without the failures.
    /// - Parameters:
    ///   - total: the number of covers that are listed; nil while the list is read.
    ///   - idle: seconds since a cover has arrived or failed. The rate foretells nothing of covers that take longer than all that are left
    ///     should, as those do whose servers do not answer: they are counted instead.
    func progress(total: Int?, idle: Double = 0) -> [String] {
        let done = settled
        let count = Decimals.grouped(done) + (total.map { "/" + Decimals.grouped($0) } ?? "")
        let rate = seconds > 0 ? Double(done) / seconds : 0
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
