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
