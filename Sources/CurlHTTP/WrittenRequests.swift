/// GETs of one origin as they go over a plain connection, written one behind the other.
// because: it is filled before anybody else sees it, and only read from then on.
package final class WrittenRequests: @unchecked Sendable {
    /// That of all of them.
    let origin: Substring
    /// What follows the target in every one.
    private let common: [UInt8]
    private(set) var bytes: [UInt8] = []
    /// Where each begins in `bytes`, and where the last one ends.
    private var starts = [0]

    /// - Parameter url: any of the origin's.
    package init(to url: HTTPURL, userAgent: String) {
        origin = url.origin
        common = Self.common(url, userAgent: userAgent)
    }

    /// Adds a request. - Parameter write: adds further fields, each a line with its end.
    package func add(_ url: HTTPURL, fields write: (inout [UInt8]) -> Void) {
        Self.write(url, common, to: &bytes, fields: write)
        starts.append(bytes.count)
    }

    /// Where some of them are in `bytes`.
    func place(of range: Range<Int>) -> Range<Int> { starts[range.lowerBound]..<starts[range.upperBound] }

    static func common(_ url: HTTPURL, userAgent: String) -> [UInt8] {
        Array(" HTTP/1.1\r\nHost: \(url.origin.dropFirst(7))\r\nUser-Agent: \(userAgent)\r\nAccept: image/*\r\n".utf8)
    }

    static func write(_ url: HTTPURL, _ common: [UInt8], to bytes: inout [UInt8], fields: (inout [UInt8]) -> Void) {
        bytes.append(contentsOf: method)
        url.withTarget { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: common)
        fields(&bytes)
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }

    private static let method = Array("GET ".utf8)
}
