/// Why an emulated link cannot start, or what is wrong with its options.
package enum LinkError: Error, CustomStringConvertible, Sendable {
    /// The link cannot listen on the port; `cause` is the system's error message.
    case cannotListen(port: Int, cause: String)
    /// The server behind the link has an unknown name.
    case unknownHost(String)
    /// An option has an invalid value.
    case invalidValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let port, let cause): "cannot listen on \(LinkRelay.host):\(port): \(cause)"
        case .unknownHost(let host): "cannot find the address of \(host)"
        case .invalidValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
