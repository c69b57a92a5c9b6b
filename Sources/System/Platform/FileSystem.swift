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
            return typeAndID(descriptor)?.type != fuse && networkKind(descriptor) == nil
        #else
            return networkKind(descriptor) == nil
        #endif
    }

    /// Whether there is a file, which is no folder, pipe or device.
    package static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func networkKind(_ descriptor: Int32) -> String? {
        #if os(Linux)
            switch typeAndID(descriptor)?.type {
            case 0x6969: "NFS"
            case 0x517B: "SMB"
            case 0xFF53_4D42: "CIFS"
            case 0xFE53_4D42: "SMB2"
            case 0x5346_414F, 0x6B41_4653: "AFS"
            case 0x0102_1997: "9P"
            case 0x00C3_6400: "Ceph"
            case 0x0BD0_0BD0: "Lustre"
            case 0x1983_0326: "BeeGFS"
            case 0x4750_4653: "GPFS"
            case 0x786F_4256: "vboxsf"
            case fuse: networkFUSE(descriptor, mounts: FileManager.default.contents(atPath: "/proc/self/mountinfo"))
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
                return "uuid " + withUnsafeBytes(of: uuid.bytes) { Hexadecimal.text($0.prefix(Int(uuid.length))) }
            }
            return typeAndID(descriptor).map { "id \($0.type) \($0.id)" } ?? ""
        #else
            var status = statfs()
            guard fstatfs(descriptor, &status) == 0 else { return "" }
            return "id \(status.f_fsid.val.0) \(status.f_fsid.val.1)"
        #endif
    }

    #if os(Linux)
        private static let fuse: UInt32 = 0x6573_5546
        /// File systems of FUSE whose sources do not tell that they are elsewhere.
        private static let elsewhere = ["s3", "gvfsd", "gcs", "goofys", "blobfuse", "drive", "gluster", "ceph"]

        /// The type of a file's mount, such as `fuse.sshfs`, if that is a daemon for another machine: its source is an address, as
        /// `user@host:folder`. Nil for ntfs-3g, mergerfs and other daemons for disks of this machine.
        static func networkFUSE(_ descriptor: Int32, mounts: Data?) -> String? {
            var status = stat()
            guard fstat(descriptor, &status) == 0, let mounts else { return nil }
            // 36 35 0:52 / /mnt/nas rw,nosuid shared:1 - fuse.sshfs user@host:folder rw,user_id=0
            let device = status.st_dev
            let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF, minor = device & 0xFF | device >> 12 & ~0xFF
            for line in String(decoding: mounts, as: UTF8.self).split(separator: "\n").reversed() {
                let words = line.split(separator: " ")
                guard words.count > 2, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-"),
                    words.count > dash + 2
                else { continue }
                let (type, source) = (words[dash + 1], words[dash + 2])
                // Of mergerfs it is a list of folders.
                let isAddress = source.contains(":") && !source.hasPrefix("/") && !type.contains("mergerfs")
                return isAddress || elsewhere.contains(where: type.contains) ? String(type) : nil
            }
            return nil
        }

        private static func typeAndID(_ descriptor: Int32) -> (type: UInt32, id: UInt)? {
            var (type, id): (UInt, UInt) = (0, 0)
            guard sleeve_file_system(descriptor, &type, &id) == 0 else { return nil }
            return (UInt32(truncatingIfNeeded: type), id)
        }
    #endif
}

/// The disk space that files take, and that is left.
package enum AllocatedSpace {
    /// The length of a file, in bytes; 0 if it does not exist.
    package static func length(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Free space of a directory's file system for this user, in bytes; nil if the system does not say.
    package static func free(at directory: String) -> Int? {
        var space = statvfs()
        guard statvfs(directory, &space) == 0 else { return nil }
        // Some network and FUSE file systems report numbers whose product has more than 64 bits.
        let (bytes, overflows) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return overflows ? .max : Int(clamping: bytes)
    }

    /// Whether a directory's file system may take another file. True if it does not say.
    package static func hasInodes(at directory: String) -> Bool {
        var space = statvfs()
        return statvfs(directory, &space) != 0 || space.f_files == 0 || space.f_favail > 0
    }

    /// In bytes; 0 if the file does not exist.
    package static func bytes(of path: String) -> Int {
        var status = stat()
        // Always in units of 512 bytes (stat(2)).
        return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }
}

/// Names that storage systems and desktops create in any folder: thumbnails, snapshots, deleted files and settings.
package enum StorageNames {
    /// In lower case.
    private static let all: Set<String> = [
        "@eadir", "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "lost+found", "$recycle.bin",
        "system volume information", "thumbs.db", "ehthumbs.db", "desktop.ini",
    ]

    /// Whether a name is one of them. Names that begin with a dot are not among them.
    package static func contains(_ name: some Collection<UInt8>) -> Bool {
        all.contains(String(decoding: name, as: UTF8.self).lowercased())
    }
}

/// Syncing files and directories. Some file systems of other machines, and some of FUSE, cannot: that is no failure, as nothing else would
/// make a file more durable there.
package enum DurableFile {
    /// Returns once the file's data would survive power loss; false, with `errno`, if it may not.
    package static func sync(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            return fdatasync(descriptor) == 0 || isUnsupported(errno)
        #else
            return fcntl(descriptor, F_FULLFSYNC) == 0 || isUnsupported(errno)
        #endif
    }

    #if !os(Linux)
        /// As `sync`, for one of many files: data is durable once a file or directory that is synced after it is.
        package static func syncData(_ descriptor: Int32) -> Bool {
            fcntl(descriptor, F_BARRIERFSYNC) == 0 || isUnsupported(errno)
        }
    #endif

    /// Syncs a file's whole file system, names included, where the system can; else the file. False, with `errno`, if it fails.
    package static func syncFileSystem(_ descriptor: Int32) -> Bool {
        #if os(Linux)
            if syncfs(descriptor) == 0 { return true }
            // A sandbox refuses calls that it does not know.
            guard isUnsupported(errno) || errno == EPERM else { return false }
            syncEverything()
            return true
        #else
            return sync(descriptor)
        #endif
    }

    /// Syncs a directory, so that the files created in it and removed from it stay so after power loss.
    /// - Throws: `SystemError`. A directory that this user may not read is left alone.
    package static func sync(directory path: String) throws(SystemError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            if errno == EACCES || errno == EPERM { return }
            throw SystemError("open", path: path)
        }
        defer { close(descriptor) }
        guard syncDirectory(descriptor) else { throw SystemError("sync", path: path) }
    }

    /// The same for an open directory; false, with `errno`, if the disk fails or is full. File systems that cannot sync directories say so in
    /// many ways.
    package static func syncDirectory(_ descriptor: Int32) -> Bool {
        fsync(descriptor) == 0 || ![EIO, ENOSPC, EDQUOT].contains(errno)
    }

    /// Whether the error of a sync says that the file system has none.
    package static func isUnsupported(_ error: Int32) -> Bool {
        [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS, ENOENT, ENOTTY].contains(error)
    }
}

/// sync(2), whose name is taken in `DurableFile`. Linux waits for the disks.
private func syncEverything() { sync() }
