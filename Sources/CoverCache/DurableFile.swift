import Platform

/// Syncing files.
enum DurableFile {
    /// Returns once the file's data would survive power loss; false, with `errno`, if it may not.
    static func sync(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return fdatasync(descriptor) == 0
        #else
            return fcntl(descriptor, F_FULLFSYNC) == 0
        #endif
    }
}
