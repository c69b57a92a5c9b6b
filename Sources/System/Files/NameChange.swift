#if os(Linux)
    import CFiles
#endif
import Platform

/// A change of names in a folder, for tests: file systems lack some of them, and other programs act between them.
enum NameChange: Sendable, Hashable {
    /// rename(2), which replaces a file of the new name.
    case rename
    /// A rename that replaces nothing, and one that exchanges two files.
    case exclusive, exchange
    case link, unlink

    /// Called before a change. A number other than 0 is the `errno` with which it fails.
    typealias Interceptor = @Sendable (_ change: NameChange, _ from: FileName, _ to: FileName) -> Int32

    /// Whether an error says that the file system does not have the call, or that a sandbox does not know it (EPERM): another way is tried,
    /// whose error counts.
    static func isUnsupported(_ error: Int32) -> Bool { [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM].contains(error) }
}

/// Each function returns 0 or `errno`.
extension OpenFolder {
    private func perform(
        _ change: NameChange, _ from: FileName, _ to: FileName,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) -> Int32 {
        if let error = intercept?(change, from, to), error != 0 { return error }
        return from.withCString { from in to.withCString { call(from, $0) == 0 ? 0 : errno } }
    }

    /// Renames a file, and replaces a file of the new name.
    func rename(_ old: FileName, to new: FileName) -> Int32 {
        perform(.rename, old, new) { renameat(descriptor, $0, descriptor, $1) }
    }

    /// Exchanges two files, atomically.
    func exchange(_ one: FileName, _ other: FileName) -> Int32 {
        perform(.exchange, one, other) { one, other in
            #if os(Linux)
                sleeve_rename_exchanging(descriptor, one, descriptor, other)
            #else
                renameatx_np(descriptor, one, descriptor, other, UInt32(RENAME_SWAP))
            #endif
        }
    }

    func unlink(_ name: FileName) -> Int32 {
        perform(.unlink, name, name) { name, _ in unlinkat(descriptor, name, 0) }
    }

    /// Renames a file that no other program uses. Returns `EEXIST` if the new name is taken.
    func moveExclusively(_ old: FileName, to new: FileName) -> Int32 {
        var error = perform(.exclusive, old, new) { old, new in
            #if os(Linux)
                sleeve_rename_exclusively(descriptor, old, descriptor, new)
            #else
                renameatx_np(descriptor, old, descriptor, new, UInt32(RENAME_EXCL))
            #endif
        }
        guard NameChange.isUnsupported(error) else { return error }
        // NFS, 9p. A crash between the two leaves both names.
        error = perform(.link, old, new) { linkat(descriptor, $0, descriptor, $1, 0) }
        if error == 0 {
            _ = unlink(old)
            return 0
        }
        guard NameChange.isUnsupported(error) || error == EMLINK else { return error }
        return copyExclusively(old, to: new)
    }

    /// The same where there are no links either (FAT of other systems, FUSE): the new name is created, and filled.
    private func copyExclusively(_ old: FileName, to new: FileName) -> Int32 {
        do throws(SystemError) {
            let source = try file(old)
            let target = new.withCString {
                openat(
                    descriptor, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, source.status.st_mode & 0o777)
            }
            guard target >= 0 else { return errno }
            defer { close(target) }
            OwnedPath.give(target, in: descriptor)
            do throws(SystemError) {
                try source.read { (bytes) throws(SystemError) in
                    guard writeAll(bytes, to: target) else { throw SystemError("write", path: path(of: new)) }
                    return true
                }
                guard DurableFile.sync(target) else {
                    throw SystemError("write", path: path(of: new))
                }
            } catch {
                _ = unlink(new)
                throw error
            }
        } catch {
            return error.number
        }
        return unlink(old)
    }
}
