/// How an origin speaks HTTPS.
package struct OriginTLS: Sendable {
    /// Offers HTTP/2 and HTTP/1.1 (ALPN); false offers HTTP/1.1 only.
    package var offersHTTP2 = true
    /// The maximum number of streams that a client may have open in an HTTP/2 connection (SETTINGS_MAX_CONCURRENT_STREAMS);
    /// 128 as in nginx.
    package var maximumStreams = 128

    package init() {}
}
