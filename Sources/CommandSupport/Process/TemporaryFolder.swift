package import Platform

/// A folder with everything that a bench, a torture or a dry run writes: lists, caches, reports.
package struct TemporaryFolder: Sendable {
    package let path: String
    /// Whether the folder itself is removed with its contents.
    private let wasCreated: Bool

    /// Creates a folder with a unique name.
    /// - Parameters:
    ///   - parent: The directory to create it in. It decides which disk is used.
    ///   - name: The beginning of its name.
    package init(in parent: String, name: String) throws(SystemError) {
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("create a folder", path: parent) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        wasCreated = true
    }

    /// Creates a folder, or uses an empty one.
    /// - Throws: `SystemError`; ENOTEMPTY if it contains something.
    package init(at path: String) throws(SystemError) {
        self.path = path
        wasCreated = mkdir(path, 0o700) == 0
        if wasCreated { return }
        guard errno == EEXIST else { throw SystemError("create", path: path) }
        do {
            guard try FileManager.default.contentsOfDirectory(atPath: path).isEmpty else {
                errno = ENOTEMPTY
                throw SystemError("use", path: path)
            }
        } catch let error as SystemError {
            throw error
        } catch {
            errno = ENOTDIR
            throw SystemError("read", path: path)
        }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func text(of name: String) -> String { (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? "" }

    package func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
    }

    /// Creates a file, or empties it, for a child to write. - Returns: Its descriptor.
    package func create(_ name: String) throws(SystemError) -> Int32 {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemError("open", path: file(name)) }
        return descriptor
    }

    /// Creates an empty folder, and removes what was there.
    @discardableResult
    package func makeFolder(_ name: String) throws -> String {
        remove(name)
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
        return file(name)
    }

    /// The names of what is in a folder.
    package func names(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []
    }

    /// The number of files in a folder that are not empty.
    package func countFiles(in name: String) -> Int {
        names(in: name).count { AllocatedSpace.length(of: file("\(name)/\($0)")) > 0 }
    }

    /// Renames a file or a folder that is to be kept until `removeAll`: a file system is slow to create files where many were just deleted.
    package func setAside(_ name: String) {
        var number = 1
        while rename(file(name), file("\(name).\(number)")) != 0, errno == ENOTEMPTY || errno == EEXIST { number += 1 }
    }

    package func remove(_ name: String) { try? FileManager.default.removeItem(atPath: file(name)) }

    /// Removes everything that was written, and the folder unless it was there before.
    package func removeAll() {
        if wasCreated {
            try? FileManager.default.removeItem(atPath: path)
        } else {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { remove(name) }
        }
    }
}
