/// An origin's default behaviour. Query parameters override most of it for one request; see `HelpPage`.
package struct OriginOptions: Sendable {
    /// The port to listen on; 0 chooses a free one.
    package var port = 0
    /// The delay before each response.
    package var delay: Duration = .zero
    /// The bandwidth that all response bodies share, in bytes per second; nil is unlimited.
    package var totalBytesPerSecond: Int?
    /// A request gets 429 if more than this many are in flight, itself included; nil is unlimited.
    package var maximumInFlight: Int?
    /// Only every Nth request fails with `fault` or `status`; nil makes every request fail.
    package var faultEvery: Int?
    /// How requests fail. It takes precedence over `status`.
    package var fault: OriginFault?
    /// The status of failing requests.
    package var status: Int?
    /// The `Cache-Control` field of covers; empty omits it.
    package var cacheControl = "public, max-age=86400"
    /// The length of covers whose URL states none, in bytes; nil is 8 to 250 KB, which depends on the cover.
    package var size: Int?
    /// Counts requests by path, for `Origin.requestCount(path:)`. Every requested path stays in memory.
    package var countPaths = false

    package init() {}

    /// Sets `status` or `fault` from the argument of `--fault`.
    ///
    /// - Parameter name: a status code or a fault's name.
    /// - Throws: `OriginError.invalidValue`.
    package mutating func setFault(_ name: String) throws(OriginError) {
        if let fault = OriginFault(rawValue: name) {
            self.fault = fault
        } else if let code = Int(name), (200...599).contains(code) {
            status = code
        } else {
            throw .invalidValue(
                name: "fault", value: name, expected: "a status code or one of \(OriginFault.names)")
        }
    }
}
