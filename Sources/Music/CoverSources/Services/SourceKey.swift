/// The key that a person has for a service. Requests have it in the field `Authorization`.
package struct SourceKey: Sendable {
    /// The environment variable that holds it.
    package let variable: String
    /// What stands before it in the field.
    private let scheme: String
    /// Nil if the person has none.
    private var value: String?

    init(_ variable: String, scheme: String) { (self.variable, self.scheme) = (variable, scheme) }

    var isKnown: Bool { value != nil }

    func with(_ value: String?) -> SourceKey {
        var key = self
        key.value = value
        return key
    }

    /// The value of the field `Authorization`; nil for none.
    package var authorization: String? { value.map { scheme + $0 } }
}
