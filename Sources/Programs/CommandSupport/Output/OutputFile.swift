// On Linux, `stat` belongs to the module that the compiler happens to load first: Glibc or CDispatch.
#if os(Linux)
    import CDispatch
#endif
import Files
import Platform

/// A file that an option or an argument names for a command to write.
package enum OutputFile {
    /// Replaces a regular file atomically, as it was when this began: what another program saves meanwhile stays. A device, a pipe or a dangling
    /// link is opened and written instead.
    /// - Throws: An exit code, after an error message.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        if isSpecial(path) {
            let descriptor = try create(path)
            defer { close(descriptor) }
            guard Terminal(descriptor: descriptor).write(bytes) else { throw cannotWrite(path) }
            return
        }
        do throws(SystemError) {
            try AtomicFile(bytes, replacing: path, looks: true).replace()
        } catch {
            throw fail(error.number == ESTALE ? "\(path) was changed meanwhile; it stays" : "cannot \(error)")
        }
    }

    private static func refusal(_ path: String) -> any Error {
        fail("\(path) has something else than what would be written; it stays: write elsewhere, or remove it")
    }

    /// Changes a text file, which other programs may write, too: what they save meanwhile is read again.
    /// - Parameter change: Makes the new text from the old one, which is empty if there is no file.
    /// - Throws: An exit code, after an error message.
    package static func update(_ path: String, _ change: (String) -> String) throws {
        if isSpecial(path) { return try write(Array(change("").utf8), to: path) }
        do throws(SystemError) {
            for isLast in [false, false, true] {
                let file = try AtomicFile(replacing: path, looks: true)
                guard let text = String(validating: try contents(path), as: UTF8.self) else {
                    throw SystemError("change", path: path, number: EILSEQ)
                }
                try file.append(Array(change(text).utf8))
                try file.sync()
                do throws(SystemError) { return try file.replace() } catch {
                    if isLast || error.number != ESTALE { throw error }
                }
            }
        } catch {
            throw fail("cannot \(error)")
        }
    }

    private static func contents(_ path: String) throws(SystemError) -> [UInt8] {
        do throws(SystemError) { return try SourceFile(path: path).contents() } catch {
            if error.cause == .missing { return [] }
            throw error
        }
    }

    /// Whether `path` is no regular file, or a dangling link: it is written in place instead of being replaced.
    package static func isSpecial(_ path: String) -> Bool {
        var (status, target) = (stat(), stat())
        guard lstat(path, &status) == 0 else { return false }
        return stat(path, &target) != 0 || target.st_mode & S_IFMT != S_IFREG
    }

    /// Opens a file for writing; creates or truncates it. - Throws: An exit code, after an error message.
    package static func create(_ path: String) throws -> Int32 {
        let descriptor = OwnedPath.create(path, O_WRONLY | O_TRUNC, mode: 0o644)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        return descriptor
    }

    /// Opens a file for writing, and creates it if it is missing. What is in it goes only if it is Sleeve's.
    /// - Parameter isOwn: Says so by its first bytes.
    /// - Throws: An exit code, after an error message.
    package static func create(_ path: String, ifOwn isOwn: ([UInt8]) -> Bool) throws -> Int32 {
        if isSpecial(path) { return try create(path) }
        // The file that is looked at is the one that is emptied.
        let descriptor = OwnedPath.create(path, O_RDWR, mode: 0o644)
        guard descriptor >= 0 else { throw cannotWrite(path) }
        let isForeign = isForeign(descriptor, isOwn)
        guard isForeign == false, ftruncate(descriptor, 0) == 0 else {
            let error = isForeign == true ? refusal(path) : cannotWrite(path)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Whether a file has something that is not Sleeve's; nil, with `errno`, if it cannot be read.
    private static func isForeign(_ descriptor: Int32, _ isOwn: ([UInt8]) -> Bool) -> Bool? {
        var start = [UInt8](repeating: 0, count: 64 << 10)
        let count = pread(descriptor, &start, start.count, 0)
        return count < 0 ? nil : count > 0 && !isOwn(Array(start[..<count]))
    }

    /// Refuses to replace a file that has something else than what would be written.
    /// - Parameter isOwn: Says so by its first bytes.
    /// - Throws: An exit code, after an error message.
    package static func check(_ path: String, ifOwn isOwn: ([UInt8]) -> Bool) throws {
        if isSpecial(path) { return }
        // What cannot be read is reported by the writing.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return }
        defer { close(descriptor) }
        if isForeign(descriptor, isOwn) == true { throw refusal(path) }
    }

    /// Checks that `path` can be written. - Throws: An exit code, after an error message.
    package static func check(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            if status.st_mode & S_IFMT == S_IFDIR { errno = EISDIR } else if access(path, W_OK) == 0 { return }
            throw cannotWrite(path)
        }
        // `write` creates a temporary file in the same directory.
        guard access(FilePath.directory(of: path), W_OK | X_OK) == 0 else { throw cannotWrite(path) }
    }

    /// Whether two paths name the same file. Devices and pipes are not compared: writing does not replace what they contain.
    package static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(path, &first) == 0, stat(other, &second) == 0 else { return path == other }
        return first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether a file is in a directory or below it, or would be created there. Links are followed.
    package static func isInside(_ path: String, _ directory: String) -> Bool {
        let (folder, place) = (FilePath.realDirectory(of: path), FilePath.resolvingLinks(directory))
        return folder == place || folder.hasPrefix(place + "/")
    }

    /// The exit code for `errno`, after an error message.
    private static func cannotWrite(_ path: String) -> any Error {
        fail("cannot \(SystemError("write", path: path))")
    }
}
