/// The number of file descriptors that the process may have (`RLIMIT_NOFILE`, getrlimit(2)).
package enum DescriptorLimit {
    #if os(Linux)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// What to do where a process, or the system, has no descriptor left.
    package static let advice = "raise the limit on open files (ulimit -n)"

    /// Nil if the system does not say.
    package static var current: Int? { limits.map { Int(clamping: $0.rlim_cur) } }

    /// Sets the limit to `count`, or to the highest that is allowed.
    package static func set(_ count: Int) {
        guard var limits else { return }
        limits.rlim_cur = min(limits.rlim_max, rlim_t(count))
        setrlimit(resource, &limits)
    }

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? limits : nil
    }
}
