import Platform

/// How many connections a server accepts at a time.
package enum ConnectionLimit {
    /// Half of the descriptors that the process may have, at most 2,048: the others are for the cache and for transfers, which fail
    /// without them.
    package static var connections: Int {
        var limit = rlimit()
        #if os(Linux)
            let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        #else
            let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
        #endif
        return isKnown ? Int(min(2_048, limit.rlim_cur / 2)) : 128
    }
}
