// The C library, whatever it is called on the system: open(2), errno, getpid(2).
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Darwin
#endif

// Foundation without ICU, where that is a separate module: URL, Data, Date.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif

/// Reads at most as many bytes as the buffer takes, as soon as some are available. Blocks even if another process that shares the
/// descriptor, such as standard input, has made it non-blocking.
/// - Returns: the number of bytes; 0 at the end; -1, with `errno` set, if that fails.
package func readSome(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int {
    while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count >= 0 { return count }
        switch errno {
        case EINTR: continue
        case EAGAIN:
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&wait, 1, -1)
        default: return -1
        }
    }
}

/// Writes all bytes to a descriptor. Returns false, with `errno` set, if that fails.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
        let count = write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return false }
        written += count
    }
    return true
}

extension stat {
    package var modificationTime: timespec {
        #if os(Linux)
            st_mtim
        #else
            st_mtimespec
        #endif
    }

    package var accessTime: timespec {
        #if os(Linux)
            st_atim
        #else
            st_atimespec
        #endif
    }
}
