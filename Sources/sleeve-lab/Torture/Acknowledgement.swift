import Platform

/// A line of a report that says: this cover is on the disk.
struct Acknowledgement: Sendable, Equatable {
    var url: String
    var digest: String

    /// The acknowledgements in a report of `sleeve prefetch` or `sleeve refresh`.
    ///
    /// A line counts when its line feed was written: a killed process leaves a part of one.
    static func all(inReport report: String) -> [Acknowledgement] {
        let decoder = JSONDecoder()
        return report.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { text in
            guard let line = try? decoder.decode(Line.self, from: Data(text.utf8)), outcomes.contains(line.outcome),
                let digest = line.digest
            else { return nil }
            return Acknowledgement(url: line.url, digest: digest)
        }
    }

    private static let outcomes: Set = ["downloaded", "fresh", "revalidated", "joined"]

    private struct Line: Decodable {
        var url, outcome: String
        var digest: String?
    }
}
