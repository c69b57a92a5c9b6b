/// A failed system call.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call or the operation, such as "pipe" or "write".
    package var call: String
    /// The file that the call was about.
    package var path: String?
    /// The call's `errno`.
    package var number: Int32

    /// - Parameter number: `errno` by default.
    package init(_ call: String, path: String? = nil, number: Int32 = errno) {
        self.number = number
        self.call = call
        self.path = path
    }

    /// The text of `errno`, for example "Too many open files".
    package var reason: String { String(cString: strerror(number)) }

    /// For example "pipe: Too many open files" or "open /a/b: Permission denied".
    package var description: String { "\(call)\(path.map { " \($0)" } ?? ""): \(reason)" }
}

extension SystemError {
    /// What a person can do something about when a file cannot be written.
    package enum Cause: Sendable, Hashable {
        /// The file system is mounted read-only.
        case readOnly
        /// The disk is full.
        case full
        /// The user's quota is used up.
        case quota
        /// This user may not.
        case notPermitted
        /// The file system allows no name, or no path, of this length.
        case nameTooLong
        /// There is a file of this name.
        case exists
        /// The file or its folder is missing.
        case missing
        /// A part of the path is a symbolic link or a file where a folder is needed.
        case notAFolder
        /// The two names of a hard link are on different file systems.
        case otherFileSystem
        case other
    }

    package var cause: Cause {
        switch number {
        case EROFS: .readOnly
        case ENOSPC: .full
        case EDQUOT: .quota
        case EACCES, EPERM: .notPermitted
        case ENAMETOOLONG: .nameTooLong
        case EEXIST: .exists
        case ENOENT: .missing
        case ENOTDIR, ELOOP: .notAFolder
        case EXDEV: .otherFileSystem
        default: .other
        }
    }
}

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
