import CommandSupport
import CoverLibrary

extension RunSummary {
    /// Whether nothing was listed or due.
    var isEmpty: Bool { requested == 0 && remaining == 0 && leftOut == 0 && !isCancelled && stopReason == nil }

    /// The summary as text; empty if nothing was listed or due, which the command explains.
    /// - Parameters:
    ///   - isListRead: Whether the whole list was read. If not, more covers remain than were counted.
    ///   - sizes: The number of smaller pictures that were made; nil if none were wanted.
    func text(isListRead: Bool, sizes: Int? = nil) -> String {
        if isEmpty { return "" }
        func count(_ value: Int, _ what: String) -> String? { value > 0 ? "\(Decimals.grouped(value)) \(what)" : nil }
        let same = deduplicated > 0 ? " (\(Decimals.grouped(deduplicated)) already stored)" : ""
        var parts = [
            count(downloaded, "downloaded\(same)"), count(fresh, "cached"), count(revalidated, "unchanged"),
            count(joined, "repeated"), count(skipped, "skipped"),
            count(failed - gone, "failed").map { Terminal.standardOutput.text($0, in: .failure) },
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
        if remaining > 0 { text += " · \(Decimals.grouped(remaining)) left for the next run" }
        if leftOut > 0 {
            text +=
                " · \(Decimals.grouped(leftOut)) left out, got with parameters or header fields that the cache does not keep"
        }
        return text + "\n"
    }
}
