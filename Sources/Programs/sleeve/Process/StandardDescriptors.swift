import Platform

/// The descriptors 0, 1 and 2.
enum StandardDescriptors {
    /// Opens those that are closed on `/dev/null`. Otherwise a socket, the index or a cover's file would get their numbers, and
    /// messages and results would be written into it.
    ///
    /// They are opened in the contrary direction, so that reading stdin and writing stdout still fail with EBADF: a result that
    /// was lost is an error, as on a full device.
    static func openClosed() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) returns the lowest free number, which is this one: those below it are open.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
