#if os(Linux)
    import CFiles
#endif

/// File systems, and which one a file is on.
package enum FileSystem {
    /// The kind of a file system that other machines may change, for example "NFS"; nil for a local one.
    package static func networkKind(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        return networkKind(descriptor)
    }

    /// Whether this kernel sees all programs that may write an open file: neither another machine nor a daemon of FUSE does.
    package static func isLocal(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return networkKind(descriptor) == nil && typeAndID(descriptor)?.type != 0x6573_5546
        #else
            return networkKind(descriptor) == nil
        #endif
    }

    private static func networkKind(_ descriptor: Int32) -> String? {
        #if os(Linux)
            switch typeAndID(descriptor)?.type {
            case 0x6969: "NFS"
            case 0x517B: "SMB"
            case 0xFF53_4D42: "CIFS"
            case 0xFE53_4D42: "SMB2"
            case 0x5346_414F: "AFS"
            case 0x0102_1997: "9P"
            case 0x00C3_6400: "Ceph"
            default: nil
            }
        #else
            var status = statfs()
            guard fstatfs(descriptor, &status) == 0, status.f_flags & UInt32(MNT_LOCAL) == 0 else { return nil }
            return "remote"
        #endif
    }

    /// Names the file system of an open file or folder, also after it was mounted again: its UUID, where the kernel tells it; else the
    /// kernel's id, which is a hint. Empty if there is neither.
    package static func identity(_ descriptor: Int32) -> String {
        #if os(Linux)
            var uuid = sleeve_uuid()
            if sleeve_get_uuid(descriptor, &uuid) == 0, uuid.length > 0 {
                let digits = withUnsafeBytes(of: uuid.bytes) { bytes in
                    bytes.prefix(Int(uuid.length)).flatMap { [Hexadecimal.digit($0 >> 4), Hexadecimal.digit($0 & 15)] }
                }
                return "uuid " + String(decoding: digits, as: UTF8.self)
            }
            return typeAndID(descriptor).map { "id \($0.type) \($0.id)" } ?? ""
        #else
            var status = statfs()
            guard fstatfs(descriptor, &status) == 0 else { return "" }
            return "id \(status.f_fsid.val.0) \(status.f_fsid.val.1)"
        #endif
    }

    #if os(Linux)
        private static func typeAndID(_ descriptor: Int32) -> (type: UInt32, id: UInt)? {
            var (type, id): (UInt, UInt) = (0, 0)
            guard sleeve_file_system(descriptor, &type, &id) == 0 else { return nil }
            return (UInt32(truncatingIfNeeded: type), id)
        }
    #endif
}
