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
    /// Nothing was listed or due.
    var isEmpty: Bool { requested == 0 && remaining == 0 && !isCancelled && stopReason == nil }

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

    /// The summary for people; `""` if nothing was listed or due, which the command explains.
    /// - Parameter isListRead: the whole list was read; else more covers are left than were counted.
    func text(isListRead: Bool) -> String {
        if isEmpty { return "" }
        func count(_ value: Int, _ what: String) -> String? { value > 0 ? "\(Decimals.grouped(value)) \(what)" : nil }
        let same = deduplicated > 0 ? " (\(Decimals.grouped(deduplicated)) already stored)" : ""
        var parts = [
            count(downloaded, "downloaded\(same)"), count(fresh, "cached"), count(revalidated, "unchanged"),
            count(joined, "repeated"), count(skipped, "skipped"), count(failed, "failed"),
        ].compactMap(\.self)
        if isCancelled {
            if remaining > 0 { parts.append((isListRead ? "" : "at least ") + "\(Decimals.grouped(remaining)) to go") }
            let done = parts.isEmpty ? "nothing done yet" : parts.joined(separator: ", ")
            return "Stopped after \(Decimals.text(seconds, 1)) s: \(done). Run again to continue.\n"
        }
        let outcome = parts.joined(separator: ", ")
        let covers = requested == 1 ? "1 cover" : "\(Decimals.grouped(requested)) covers"
        var text = "\(covers)\(outcome.isEmpty ? "" : ": \(outcome)") in \(Decimals.text(seconds, 2)) s"
        if downloaded > 0 {
            text += " · \(Decimals.grouped(Int(coversPerSecond))) covers/s · \(ByteSize(bytes)) at "
            text += "\(ByteSize(Int(bytesPerSecond)))/s"
        }
        if remaining > 0 { text += " · \(Decimals.grouped(remaining)) left for the next run" }
        return text + "\n"
    }
}

/// The peak resident memory of the process, in bytes.
func peakMemory() -> Int {
    #if os(Linux)
        // Not getrusage: its figure includes that of the parent process before exec.
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

/// A time of the cache in RFC 3339, in UTC. - Parameter milliseconds: since 1970.
func timestamp(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000).ISO8601Format()
}

/// The current time.
func secondsSince1970() -> Double { Date().timeIntervalSince1970 }
