/// An error of an origin's start or of its options.
package enum OriginError: Error, CustomStringConvertible, Sendable {
    /// The origin cannot listen on the address; `cause` is the system's error message.
    case cannotListen(host: String, port: Int, cause: String)
    /// The origin cannot make its certificate.
    case cannotMakeCertificate(String)
    /// The server behind a link has an unknown name.
    case unknownHost(String)
    /// An option or a query parameter has an invalid value.
    case invalidValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .cannotMakeCertificate(let cause): "cannot make a certificate: \(cause)"
        case .unknownHost(let host): "cannot find the address of \(host)"
        case .invalidValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
