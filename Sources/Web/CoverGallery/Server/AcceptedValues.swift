/// A field with which a client says what it accepts: values with weights (RFC 9110 section 12.4.2).
struct AcceptedValues {
    /// The weights of the values in lower case, from 0 to 1.
    private var weights: [String: Double] = [:]

    /// - Parameter text: of `Accept` or `Accept-Encoding`; nil if the request has none.
    init(_ text: String?) {
        for member in (text ?? "").lowercased().split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let value = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            weights[value] = (0...1).contains(weight) ? weight : 0
        }
    }

    /// A value's weight; nil if the client does not name it.
    subscript(_ value: String) -> Double? { weights[value] }

    /// Of `Accept-Encoding`: whether gzip is accepted, and liked no less than no coding at all (section 12.5.3).
    var prefersGzip: Bool {
        let gzip = self["gzip"] ?? self["x-gzip"] ?? self["*"] ?? 0
        return gzip > 0 && gzip >= self["identity"] ?? 0
    }
}
