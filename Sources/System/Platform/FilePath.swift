/// Paths as text.
package enum FilePath {
    /// The path of the directory that `path` lies in.
    package static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The path without symbolic links; `path` itself if it does not exist. A link to a missing file leads to that file.
    package static func resolvingLinks(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return target(of: path) ?? path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The directory that a file is in, or would be created in, without symbolic links.
    package static func realDirectory(of path: String) -> String {
        resolvingLinks(directory(of: resolvingLinks(path)))
    }

    /// The path that a symbolic link holds; nil if `path` is none.
    private static func target(of path: String) -> String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return nil }
        return target.hasPrefix("/") ? target : directory(of: path) + "/" + target
    }
}

extension URL {
    /// The absolute path of a file URL, which a later `chdir` does not change; nil for any other URL.
    ///
    /// The parts of a relative path stay as they are: `..` behind a symbolic link is the parent of the link's target, as for every system call.
    package var filePath: String? {
        guard isFileURL, ["", "localhost"].contains(host() ?? "") else { return nil }
        let relative = relativePath
        if relative.hasPrefix("/") { return relative }
        // Without a directory as its base, RFC 3986 section 5.3 says what it is relative to.
        guard let baseURL, baseURL.hasDirectoryPath, let base = baseURL.filePath else {
            return path.hasPrefix("/") ? path : nil
        }
        return relative == "." ? base : (base == "/" ? "" : base) + "/" + relative
    }

    /// The same.
    /// - Parameter error: made of the URL and the reason if it is no URL of a file.
    package func filePath<Failure: Error>(
        or error: (_ path: String, _ reason: String) -> Failure
    ) throws(Failure) -> String {
        if let path = filePath { return path }
        throw error(Redaction.displayable(absoluteString), "it is not the URL of a file")
    }
}

/// Creates files and folders for the owner of the folder that they are in.
///
/// What the superuser creates in another user's folder would be the superuser's, and after one `sudo sleeve …` that user could neither read
/// nor replace it. It is given to them, as rsync and npm do.
package enum OwnedPath {
    /// Asked once: a cover's file is created for each cover.
    package static let isSuperuser = geteuid() == 0

    /// Opens a file, and creates it if it is missing (open(2), `O_CREAT`). One that was there, or behind a link, keeps its owner: a user's link may
    /// lead to a file of the system.
    /// - Returns: a descriptor, which programs that are started do not inherit; -1, with `errno`, if that fails.
    package static func create(_ path: String, _ flags: Int32, mode: mode_t = 0o600) -> Int32 {
        let flags = flags | O_CREAT | O_CLOEXEC
        if !isSuperuser { return open(path, flags, mode) }
        let descriptor = open(path, flags | O_EXCL, mode)
        if descriptor < 0 { return errno == EEXIST && flags & O_EXCL == 0 ? open(path, flags, mode) : -1 }
        var folder = stat()
        if stat(FilePath.directory(of: path), &folder) == 0 { give(descriptor, folder) }
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
