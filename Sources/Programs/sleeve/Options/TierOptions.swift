import ArgumentParser
import CommandSupport
import CoverLibrary

/// Where several caches share covers.
struct TierOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share covers with other caches here: a directory that exists, or s3://BUCKET/PREFIX. (default: $SLEEVE_TIER)",
            valueName: "place"),
        completion: .directory)
    var tier: String?

    /// The place that the option or the variable names; nil for none.
    var resolved: String? { tier ?? Environment.value("SLEEVE_TIER") }

    func validate() throws {
        if tier?.isEmpty == true { throw ValidationError("--tier needs a directory or s3://BUCKET/PREFIX") }
    }
}

extension TierStatistics {
    /// The values of the label `result` in the metrics.
    var results: [(name: String, count: Int)] {
        [
            ("hit", hits), ("miss", misses), ("stored", stored), ("failed", failed), ("unsuitable", unsuitable),
            ("damaged", damaged), ("forbidden", forbidden),
        ]
    }

    /// `120 from the tier, 30 put into it`; nil if nothing happened.
    var text: String? {
        let parts = [
            (hits, "from the tier"), (stored, "put into the tier"), (failed, "not put into the tier"),
            (damaged, "damaged in the tier"), (forbidden, "refused by the tier"),
        ]
        let text = parts.filter { $0.0 > 0 }.map { "\(Decimals.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
        return text.isEmpty ? nil : text
    }

    func warnOfFailures() {
        guard failed > 0 else { return }
        Log.warning(
            "\(Decimals.count(failed, "cover")) could not be put into the tier; `sleeve cache push` puts what it lacks")
    }
}
