package import Platform

/// A folder with everything that a bench, a dry run or a command of the gallery writes: lists, caches, reports.
package final class TemporaryFolder: Sendable {
    /// A folder that is not locked after as many seconds is that of a killed process.
    private static let lockTime: TimeInterval = 60
    package let path: String
    /// Held as long as the folder is in use.
    private let lock: FileLock

    /// Creates a folder with a unique name, and removes those of this name that killed processes have left.
    /// - Parameters:
    ///   - parent: The directory to create it in. It decides which disk is used.
    ///   - name: The beginning of its name.
    package init(in parent: String, name: String) throws(SystemError) {
        try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        Self.sweep(parent, name + "-")
        var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("create a folder", path: parent) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        lock = try FileLock(path: path + "/lock")
        _ = try lock.tryLock()
    }

    private static func sweep(_ parent: String, _ prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for path in names.filter({ $0.hasPrefix(prefix) && $0.count == prefix.count + 6 }).map({ "\(parent)/\($0)" }) {
            guard let file = try? FileManager.default.attributesOfItem(atPath: path),
                file[.type] as? FileAttributeType == .typeDirectory,
                file[.ownerAccountID] as? uid_t == geteuid(), let modified = file[.modificationDate] as? Date,
                -modified.timeIntervalSinceNow > lockTime, let lock = try? FileLock(path: path + "/lock"),
                (try? lock.tryLock()) == true
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
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
    package func makeFolder(_ name: String) throws -> String {
        try? FileManager.default.removeItem(atPath: file(name))
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
        return file(name)
    }

    /// The number of files in a folder that are not empty.
    package func countFiles(in name: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file(name))) ?? []
        return names.count { AllocatedSpace.length(of: file("\(name)/\($0)")) > 0 }
    }

    /// Renames a file or a folder that is to be kept until `removeAll`: a file system is slow to create files where many were just deleted.
    package func setAside(_ name: String) {
        var number = 1
        while rename(file(name), file("\(name).\(number)")) != 0, errno == ENOTEMPTY || errno == EEXIST { number += 1 }
    }

    /// Removes the folder with everything that was written.
    package func removeAll() { try? FileManager.default.removeItem(atPath: path) }
}
