/// An error of an origin's start or of its options.
package enum OriginError: Error, CustomStringConvertible, Sendable {
    /// The origin cannot listen on the port; `cause` is the system's error message.
    case cannotListen(port: Int, cause: String)
    /// An option or a query parameter has an invalid value.
    case invalidValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let port, let cause): "cannot listen on \(Origin.host):\(port): \(cause)"
        case .invalidValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
