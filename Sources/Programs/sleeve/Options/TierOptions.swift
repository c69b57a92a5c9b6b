import ArgumentParser
import CommandSupport
import CoverLibrary

/// Where several caches share covers.
struct TierOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share covers with other caches here: downloaded ones are put into it, and missing ones read from it first.",
            discussion: """
                A directory that exists, such as one of a NAS, or s3://BUCKET/PREFIX with the keys in AWS_ACCESS_KEY_ID and \
                AWS_SECRET_ACCESS_KEY. Not asked with --offline. Default: $SLEEVE_TIER.
                """, valueName: "place"),
        completion: .directory)
    var tier: String?

    @Flag(help: "Read the tier, and put nothing into it.")
    var tierReadOnly = false

    func validate() throws {
        if tier?.isEmpty == true { throw ValidationError("--tier needs a directory or s3://BUCKET/PREFIX") }
    }

    func apply(to configuration: inout LibraryConfiguration) {
        configuration.tier = tier ?? Environment.value("SLEEVE_TIER")
        configuration.isTierReadOnly = tierReadOnly
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
            "\(Decimals.count(failed, "cover")) could not be put into the tier; `sleeve push` puts what it lacks")
    }
}
