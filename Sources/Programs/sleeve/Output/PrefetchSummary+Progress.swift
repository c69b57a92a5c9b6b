import CommandSupport
import CoverLibrary

extension PrefetchSummary {
    /// `1,234/5,000 covers · 11,203/s · 340 MiB/s · 2 failed · 0:03 left`
    /// - Parameters:
    ///   - total: the number of covers that are listed; nil while the list is read.
    ///   - width: in columns. Parts are left out to fit: first the rates, then the failures; nil for no limit.
    ///   - idle: seconds since a cover has arrived or failed. The rate foretells nothing of covers that take longer than all that are left
    ///     should, as those do whose servers do not answer: they are counted instead.
    func progress(total: Int?, width: Int?, idle: Double = 0) -> String {
        let done = settled
        let count = Decimals.grouped(done) + (total.map { "/" + Decimals.grouped($0) } ?? "")
        let rate = seconds > 0 ? Double(done) / seconds : 0
        var parts: [(text: String, importance: Int)] = [(count + " covers", 4)]
        parts.append((Decimals.grouped(Int(rate)) + "/s", 1))
        if bytes > 0 { parts.append((ByteSize(Int(bytesPerSecond)).description + "/s", 0)) }
        if failed > 0 { parts.append((Decimals.grouped(failed) + " failed", 2)) }
        if let total, rate > 0, total > done {
            let left = Double(total - done) / rate
            parts.append(
                (left < idle ? "waiting for \(Decimals.grouped(total - done))" : Self.clock(left) + " left", 3))
        }
        func line() -> String { parts.map(\.text).joined(separator: " · ") }
        guard let width else { return line() }
        for importance in 0..<3 where line().count > width { parts.removeAll { $0.importance == importance } }
        if line().count > width { parts[0].text = count }
        return line()
    }

    /// `0:07`, `12:40`, `3:05:00`.
    static func clock(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded(.up))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(two(minutes))" : String(minutes)) + ":" + two(seconds % 60)
    }
}
