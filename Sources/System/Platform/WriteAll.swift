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
