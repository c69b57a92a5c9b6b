import Platform

/// How many connections a server accepts at a time.
package enum ConnectionLimit {
    /// Half of the descriptors that the process may have, at most 2,048: the others are for the cache and for transfers, which fail
    /// without them.
    package static var connections: Int { DescriptorLimit.current.map { min(2_048, $0 / 2) } ?? 128 }
}
