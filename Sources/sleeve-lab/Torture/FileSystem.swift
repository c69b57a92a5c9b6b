import Platform

/// The file system that holds a directory.
struct FileSystem: CustomStringConvertible {
    /// Such as `ext4`; nil if the system does not say.
    var type: String?
    /// Such as `/dev/sda1`.
    var device: String?
    /// In bytes; nil if the system does not say.
    var freeBytes: Int?

    init(at directory: String) {
        freeBytes = AllocatedSpace.free(at: directory)
        #if os(Linux)
            guard let path = realpath(directory, nil) else { return }
            defer { free(path) }
            let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
            (type, device) = Self.mount(of: String(cString: path), in: mounts) ?? (nil, nil)
        #else
            var status = statfs()
            guard statfs(directory, &status) == 0 else { return }
            func text<T>(_ field: T) -> String {
                withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            }
            (type, device) = (text(status.f_fstypename), text(status.f_mntfromname))
        #endif
    }

    /// The mount that holds a path: the last one with the longest mount point that the path begins with.
    /// - Parameters:
    ///   - path: Absolute, without symbolic links.
    ///   - mounts: The text of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    static func mount(of path: String, in mounts: String) -> (type: String, device: String)? {
        var found: (point: String, type: String, device: String)?
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            // The number of optional fields before the hyphen varies.
            guard let hyphen = fields.firstIndex(of: "-"), hyphen > 4, fields.count > hyphen + 2 else { continue }
            let point = String(fields[4]).replacing("\\040", with: " ")
            guard point == "/" || path == point || path.hasPrefix(point + "/"), point.count >= found?.point.count ?? 0
            else { continue }
            found = (point, String(fields[hyphen + 1]), String(fields[hyphen + 2]))
        }
        return found.map { ($0.type, $0.device) }
    }

    /// `ext4 on /dev/sda1`.
    var description: String {
        guard let type else { return "unknown file system" }
        return type + (device.map { $0 == type ? "" : " on \($0)" } ?? "")
    }
}
