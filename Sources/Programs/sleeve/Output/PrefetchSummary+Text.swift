import CommandSupport
import CoverLibrary

extension PrefetchSummary {
    /// Whether nothing was listed or due.
    var isEmpty: Bool { requested == 0 && remaining == 0 && !isCancelled && stopReason == nil }

    /// The summary as JSON.
    /// - Parameters:
    ///   - evicted: The number of new covers that were evicted to make room for others.
    ///   - sizes: The number of smaller pictures that were made; nil if none were wanted.
    ///   - tier: What was read from a tier and put there; nil without one.
    func json(evicted: Int, sizes: Int?, tier: TierStatistics? = nil, peakMemory: Int) -> JSONObject {
        var line: JSONObject = [
            "requested": requested, "downloaded": downloaded, "deduplicated": deduplicated, "revalidated": revalidated,
            "fresh": fresh, "joined": joined, "skipped": skipped, "failed": failed,
        ]
        if gone > 0 { line.add("gone", gone) }
        if remaining > 0 { line.add("remaining", remaining) }
        if evicted > 0 { line.add("evicted", evicted) }
        if let sizes { line.add("sizes", sizes) }
        if let tier {
            line.add([
                "fromTier": tier.hits, "tierStored": tier.stored, "tierFailed": tier.failed,
                "tierUnsuitable": tier.unsuitable, "tierDamaged": tier.damaged,
            ])
        }
        line.add([
            "bytes": bytes, "seconds": JSONText(Decimals.text(seconds, 6)),
            "coversPerSecond": JSONText(Decimals.text(coversPerSecond, 1)),
            "bytesPerSecond": JSONText(Decimals.text(bytesPerSecond, 0)), "peakMemoryBytes": peakMemory,
        ])
        if isCancelled { line.add("cancelled", true) }
        if let stopReason { line.add("stopReason", stopReason) }
        return line
    }

    /// The summary as text; empty if nothing was listed or due, which the command explains.
    /// - Parameters:
    ///   - isListRead: Whether the whole list was read. If not, more covers remain than were counted.
    ///   - sizes, tier: As of `json`.
    func text(isListRead: Bool, sizes: Int? = nil, tier: TierStatistics? = nil) -> String {
        if isEmpty { return "" }
        func count(_ value: Int, _ what: String) -> String? { value > 0 ? "\(Decimals.grouped(value)) \(what)" : nil }
        let same = deduplicated > 0 ? " (\(Decimals.grouped(deduplicated)) already stored)" : ""
        var parts = [
            count(downloaded, "downloaded\(same)"), count(fresh, "cached"), count(revalidated, "unchanged"),
            count(joined, "repeated"), count(skipped, "skipped"), count(failed - gone, "failed"),
            count(gone, "gone from their servers"),
        ].compactMap(\.self)
        if isCancelled {
            if remaining > 0 { parts.append((isListRead ? "" : "at least ") + "\(Decimals.grouped(remaining)) to go") }
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
        if let tier = tier?.text { text += " · \(tier)" }
        if remaining > 0 { text += " · \(Decimals.grouped(remaining)) left for the next run" }
        return text + "\n"
    }
}
