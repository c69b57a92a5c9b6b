import ArgumentParser

/// Several values in one option: `cold,warm`.
struct CommaSeparated<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    var values: [Value]

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        values = words.compactMap { Value(argument: String($0)) }
        guard values.count == words.count else { return nil }
    }
}
