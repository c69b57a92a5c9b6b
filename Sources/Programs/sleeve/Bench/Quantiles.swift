/// Exact quantiles of a sample, which is kept sorted: a benchmark has some thousands of values, and a histogram would round them.
struct Quantiles {
    let sorted: [Double]

    init(_ values: some Sequence<Double>) { sorted = values.sorted() }

    /// The smallest value that at least a share of `quantile` (0…1) of the sample does not exceed; 0 for an empty sample.
    subscript(_ quantile: Double) -> Double {
        if sorted.isEmpty { return 0 }
        // Products such as 0.999 × 1,000 are not exact.
        let rank = Int((quantile * Double(sorted.count) - 1e-9).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    var mean: Double { sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count) }

    /// The median: the mean of the two middle values if the count is even.
    var median: Double {
        if sorted.isEmpty { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// The smallest, the middle and the largest value of some rounds.
struct Spread: Codable, Sendable, Equatable {
    var minimum, median, maximum: Double

    init(_ values: [Double]) {
        let quantiles = Quantiles(values)
        minimum = quantiles.sorted.first ?? 0
        median = quantiles.median
        maximum = quantiles.sorted.last ?? 0
    }
}
