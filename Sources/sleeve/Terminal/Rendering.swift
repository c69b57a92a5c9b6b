import CoverLibrary

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension PrefetchSummary {
    /// The summary of the command-line contract.
    func json(peakMemory: Int) -> String {
        var line = JSONObject()
        line.add("requested", requested)
        line.add("downloaded", downloaded)
        line.add("deduplicated", deduplicated)
        line.add("revalidated", revalidated)
        line.add("fresh", fresh)
        line.add("joined", joined)
        line.add("skipped", skipped)
        line.add("failed", failed)
        if remaining > 0 { line.add("remaining", remaining) }
        line.add("bytes", bytes)
        line.add("seconds", raw: Decimals.text(seconds, 6))
        line.add("coversPerSecond", raw: Decimals.text(coversPerSecond, 1))
        line.add("bytesPerSecond", raw: Decimals.text(bytesPerSecond, 0))
        line.add("peakMemoryBytes", peakMemory)
        if isCancelled { line.add("cancelled", true) }
        if let stopReason { line.add("stopReason", stopReason) }
        return line.text + "\n"
    }

    /// The summary for people. - Parameter isListRead: to its end; else more is left than anybody has counted.
    func text(isListRead: Bool) -> String {
        func count(_ value: Int, _ what: String) -> String? { value > 0 ? "\(Decimals.grouped(value)) \(what)" : nil }
        let parts = [
            count(
                downloaded,
                deduplicated > 0 ? "downloaded (\(Decimals.grouped(deduplicated)) already stored)" : "downloaded"),
            count(fresh, "fresh"), count(revalidated, "revalidated"), count(joined, "joined"),
            count(skipped, "skipped"),
            count(failed, "failed"),
            count(remaining, isListRead ? "left for the next run" : "and the rest of the list left for the next run"),
        ]
        let covers = requested == 1 ? "1 cover" : "\(Decimals.grouped(requested)) covers"
        let outcome = parts.compactMap(\.self).joined(separator: ", ")
        var text = (isCancelled ? "stopped after " : "") + covers + (outcome.isEmpty ? "" : ": \(outcome)")
        text += " in \(Decimals.text(seconds, 2)) s"
        if downloaded > 0 {
            text += " · \(Decimals.grouped(Int(coversPerSecond))) covers/s · \(ByteSize(bytes)) at "
            text += "\(ByteSize(Int(bytesPerSecond)))/s"
        }
        return text + "\n"
    }
}

/// The most memory the process has taken, in bytes.
func peakMemory() -> Int {
    #if os(Linux)
        // Not getrusage: its figure is handed on from the process that started this one.
        if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = Int(line.filter(\.isNumber))
        {
            return kilobytes * 1_024
        }
    #endif
    var usage = rusage()
    #if os(Linux)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1_024
    #else
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss
    #endif
}

/// A time of the cache as RFC 3339 has it, in UTC. - Parameter milliseconds: since 1970.
func timestamp(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000).ISO8601Format()
}

/// Now.
func secondsSince1970() -> Double { Date().timeIntervalSince1970 }
