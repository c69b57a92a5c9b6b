/// Settings of every transfer of a client.
package struct HTTPClientConfiguration: Sendable {
    package var userAgent: String
    /// The longest a transfer may take. One whose body arrives at a rate at which the whole body would arrive in four times as long may take that.
    package var timeout: Duration = .seconds(60)
    /// From the start of the look-up, or from its end if it took more than half of this. In the latter case libcurl may notice it as late as
    /// `timeout`.
    package var connectTimeout: Duration = .seconds(15)
    /// The longest look-up of a name, if that is more than `connectTimeout`. glibc asks for both families, and waits 15 s where a router
    /// answers for one only.
    package var lookUpTimeout: Duration = .seconds(30)
    /// A transfer times out that is slower than this number of bytes a second for `lowSpeedTime` seconds.
    package var lowSpeedLimit = 64
    package var lowSpeedTime = 30
    /// The longest body that is accepted, in bytes.
    package var maximumBodySize = 32 << 20
    /// The length that all bodies may have together, in bytes, those that wait to be stored included, while `CurlEventLoop.hasRoom`.
    package var bodyMemory = 256 << 20
    /// The maximum length of all heads of a transfer together, in bytes: of trailers and 1xx responses too.
    package var maximumHeadSize = 300 << 10
    /// Connect to public addresses only. With a proxy, this is about the proxy's address.
    package var deniesPrivateAddresses = false
    /// Connect to addresses of this family only; nil for either.
    package var addressFamily: AddressFamily?
    /// Speak HTTP/1.1 over TLS, too.
    package var isHTTP1 = false
    /// The path of a PEM file with the certificate authorities to trust instead of the system's.
    package var certificateAuthorities: String?
    /// The path of a directory with such files, named by hashes as `openssl rehash` does.
    package var certificateDirectory: String?
    /// Maximum number of idle connections, of all hosts together.
    package var maximumConnections = 64

    package init(userAgent: String) { self.userAgent = userAgent }
}

/// A version of the Internet Protocol.
package enum AddressFamily: Sendable {
    case v4, v6

    package var other: AddressFamily { self == .v4 ? .v6 : .v4 }
}
