#if os(Linux)
    import CFiles
#endif
import Platform

/// Whether other programs write a file.
extension SourceFile {
    /// A file that changed within this time is left where nothing tells whether it is open, in seconds.
    private static let quietTime = 10

    /// Why the file must not be replaced now; nil if it may be.
    /// - Parameters:
    ///   - isSleeves: It has bytes that Sleeve wrote, so that its age tells nothing.
    ///   - clock: The status of a new file of the same file system, whose clock may be another machine's.
    func refusal(isSleeves: Bool, clock: () -> stat?) -> OwnFile.Refusal? {
        #if os(Linux)
            if FileSystem.isLocal(descriptor) {
                // Who opens the file now breaks the lease by a signal. By default SIGURG is ignored, and SIGIO ends the process.
                _ = fcntl(descriptor, sleeve_set_signal, SIGURG)
                for attempt in 1... {
                    if fcntl(descriptor, sleeve_set_lease, F_RDLCK) == 0 {
                        _ = fcntl(descriptor, sleeve_set_lease, F_UNLCK)
                        return nil
                    }
                    guard errno == EAGAIN else { break }
                    // A new process has the descriptors of its parent until it runs its program: half a second on a busy machine.
                    if attempt == 50 { return .openForWriting }
                    usleep(10_000)
                }
            }
        #endif
        guard !isSleeves, let now = clock()?.modificationTime.tv_sec else { return nil }
        return abs(now - status.modificationTime.tv_sec) < Self.quietTime ? .changedJustNow : nil
    }
}
