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
