import CLinux
import Platform

/// Settings of the whole process, which a library must not change.
enum ProcessSetup {
    /// Descriptors that sockets and covers may need. The soft limit is often 1024 where the hard limit is far higher.
    private static let descriptors = 8_192
    /// Bytes of free heap that glibc keeps instead of returning them to the kernel.
    private static let heapReserve: Int32 = 32 << 20

    /// Prepares for transfers. Commands that send requests call it before they open the library.
    static func prepareForTransfers() {
        // A write to a closed connection must fail with EPIPE instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.set(descriptors)
        #if os(Linux)
            // libcurl allocates 64 KiB for every transfer and frees them at its end. By default glibc unmaps them, and each
            // transfer pays a page fault for every 4 KiB.
            mallopt(M_TRIM_THRESHOLD, heapReserve)
            // What one thread allocates another frees. With an arena a thread, the free memory of each is of no use to the others: a run of
            // 120,000 covers grew to 143 MB, and with one arena takes 127, and as much CPU time.
            mallopt(M_ARENA_MAX, 1)
        #endif
    }
}
