import Platform

/// The key that a person has for a service. Only requests have it: no URL that is remembered or printed.
package struct SourceKey: Sendable {
    /// Where a request has the key.
    enum Place: Sendable {
        /// In the field `Authorization`, behind this text.
        case authorization(String)
        /// In a parameter of the URL.
        case parameter(String)
    }

    /// The environment variable that holds it.
    package let variable: String
    let place: Place
    /// Nil if the person has none.
    private var value: String?

    init(_ variable: String, _ place: Place) { (self.variable, self.place) = (variable, place) }

    var isKnown: Bool { value != nil }

    func with(_ value: String?) -> SourceKey {
        var key = self
        key.value = value
        return key
    }

    /// The URL to request in place of one without the key.
    package func url(for url: String) -> String {
        guard case .parameter(let name) = place, let value else { return url }
        return "\(url)\(url.contains("?") ? "&" : "?")\(name)=\(PercentEncoding.encoded(value))"
    }

    /// The value of the field `Authorization`; nil for none.
    package var authorization: String? {
        guard case .authorization(let scheme) = place, let value else { return nil }
        return scheme + value
    }
}
