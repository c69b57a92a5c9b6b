import Platform

/// The peak memory in a summary: the process's own figure, without its parent's memory before the start.
struct PeakMemory: Decodable {
    var bytes: Int

    private enum CodingKeys: String, CodingKey { case bytes = "peakMemoryBytes" }

    /// Nil for text that is no summary.
    init?(summary: String) {
        guard let decoded = try? JSONDecoder().decode(Self.self, from: Data(summary.utf8)) else { return nil }
        self = decoded
    }
}
