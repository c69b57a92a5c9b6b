/// Creates files and folders for the owner of the folder that they are in.
///
/// What the superuser creates in another user's folder would be the superuser's, and after one `sudo sleeve …` that user could neither read
/// nor replace it. It is given to them, as rsync and npm do.
package enum OwnedPath {
    /// Asked once: a cover's file is created for each cover.
    package static let isSuperuser = geteuid() == 0

    /// Opens a file, and creates it if it is missing (open(2), `O_CREAT`).
    /// - Returns: a descriptor, which programs that are started do not inherit; -1, with `errno`, if that fails.
    package static func create(_ path: String, _ flags: Int32, mode: mode_t = 0o600) -> Int32 {
        let descriptor = open(path, flags | O_CREAT | O_CLOEXEC, mode)
        var folder = stat()
        if descriptor >= 0, isSuperuser, stat(FilePath.directory(of: path), &folder) == 0 {
            give(descriptor, folder)
        }
        return descriptor
    }

    /// The same for a new file in an open folder.
    package static func give(_ descriptor: Int32, in folder: Int32) {
        var status = stat()
        if isSuperuser, fstat(folder, &status) == 0 { give(descriptor, status) }
    }

    /// A file with a second name may be one that another user has linked here.
    private static func give(_ descriptor: Int32, _ folder: stat) {
        var status = stat()
        guard folder.st_uid != 0, fstat(descriptor, &status) == 0, status.st_uid == 0 else { return }
        guard status.st_nlink == 1 || status.st_mode & S_IFMT == S_IFDIR else { return }
        _ = fchown(descriptor, folder.st_uid, folder.st_gid)
    }

    /// Creates a folder unless there is one.
    /// - Returns: whether it is new.
    /// - Throws: `SystemError`.
    @discardableResult
    package static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(SystemError) -> Bool {
        guard mkdir(path, mode) == 0 else {
            if errno == EEXIST { return false }
            throw SystemError("create", path: path)
        }
        var folder = stat()
        if isSuperuser, stat(FilePath.directory(of: path), &folder) == 0, folder.st_uid != 0 {
            _ = lchown(path, folder.st_uid, folder.st_gid)
        }
        return true
    }

    /// Creates a folder and those above it that are missing, durably.
    /// - Throws: `SystemError`; `ENOTDIR`, with its path, for a file where a folder is needed.
    package static func makeFolders(_ path: String, mode: mode_t = 0o700) throws(SystemError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT != S_IFDIR { throw SystemError("create", path: path, number: ENOTDIR) }
            return
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw SystemError("open", path: path) }
        let parent = FilePath.directory(of: path)
        if parent != path, parent != "." { try makeFolders(parent, mode: mode) }
        if try makeFolder(path, mode: mode) { try DurableFile.sync(directory: parent) }
    }
}
