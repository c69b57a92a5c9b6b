import CurlHTTP
import Platform

/// One of several parts of a list, for several machines: `3/16` is the fourth of sixteen.
///
/// A cover belongs to the shard `hash(host) mod count`, where `host` is the host name of its first usable URL, in lower case and ASCII
/// form, and `hash` the first eight bytes of its SHA-256 as a number with the most significant byte first. All covers of a host are in one shard, so the limits of requests to a host hold for all machines together. A request without a
/// usable URL belongs to shard 0.
package struct Shard: Sendable, Hashable {
    package static let maximumCount = 65_536

    /// From 0 to `count` - 1.
    package let index: Int
    /// The number of shards, 1 to `maximumCount`.
    package let count: Int

    /// - Parameter text: `index/count` in decimal digits.
    /// - Returns: nil if `text` is anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }),
            let index = Int(parts[0]), let count = Int(parts[1]), (1...Self.maximumCount).contains(count), index < count
        else { return nil }
        (self.index, self.count) = (index, count)
    }

    /// - Parameter host: a host name in lower case and ASCII form, without a port.
    package func contains(host: String) -> Bool {
        let hash = Digest(of: host.utf8).withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        return hash % UInt64(count) == UInt64(index)
    }

    func contains(_ url: HTTPURL) -> Bool { contains(host: url.host) }

    /// Whether requests without a usable URL belong to it.
    var hasUnusable: Bool { index == 0 }
}
