/// The disk space that files take.
package enum AllocatedSpace {
    /// In bytes; 0 if the file does not exist.
    package static func bytes(of path: String) -> Int {
        var status = stat()
        // Always in units of 512 bytes (stat(2)).
        return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }
}
