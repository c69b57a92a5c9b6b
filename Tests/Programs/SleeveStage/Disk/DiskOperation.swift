import Foundation

/// An operation that changed a file, as `disk.c` records it.
package struct DiskOperation {
    package enum Kind: UInt32 {
        case create = 1
        case write, truncate, allocate, sync, syncDirectory
        /// All of the file system, with its names (`syncfs(2)`).
        case syncFileSystem
        case rename, link, unlink, makeDirectory, removeDirectory
        /// A call that was made to fail, or could have been; it changed nothing. The offset is its number in `enum call`.
        case failed
    }

    package struct Malformed: Error { var offset: Int }

    package var kind: Kind
    package var inode: UInt64
    package var offset: Int
    /// In bytes. For `truncate`, the new length.
    package var length: Int
    package var path: String
    /// For `rename` and `link`.
    package var newPath: String
    /// For `write`.
    package var data: [UInt8]

    /// An operation without numbers. - Parameter data: What `write` writes to the start of the file.
    package init(_ kind: Kind, _ path: String, inode: UInt64 = 0, data: [UInt8] = []) {
        self.init(
            kind: kind, inode: inode, offset: 0, length: data.count, path: path, newPath: "", data: data)
    }

    private init(
        kind: Kind, inode: UInt64, offset: Int, length: Int, path: String, newPath: String, data: [UInt8]
    ) {
        (self.kind, self.inode, self.offset, self.length) = (kind, inode, offset, length)
        (self.path, self.newPath, self.data) = (path, newPath, data)
    }

    /// Whether the path is that of the index's log.
    package var isOfLog: Bool { path.hasSuffix("/index.sqlite3-wal") }
    /// Whether the path is in the folder of covers.
    package var isOfCover: Bool { path.contains("/covers/") }

    /// The directory that the path lies in.
    package static func parent(_ path: String) -> String { (path as NSString).deletingLastPathComponent }

    /// Reads a trace.
    package static func read(_ path: String) throws -> [DiskOperation] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        var operations: [DiskOperation] = []
        var offset = 0
        while offset < bytes.count {
            guard offset + 40 <= bytes.count else { throw Malformed(offset: offset) }
            func number<Number: FixedWidthInteger>(_ position: Int, _: Number.Type) -> Number {
                bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset + position, as: Number.self) }
            }
            func text(_ start: Int, _ length: Int) -> String {
                String(decoding: bytes[start..<start + length], as: UTF8.self)
            }
            let (nameLength, newNameLength) = (Int(number(32, UInt32.self)), Int(number(36, UInt32.self)))
            let length = Int(number(24, UInt64.self))
            guard let kind = Kind(rawValue: number(0, UInt32.self)) else { throw Malformed(offset: offset) }
            let name = offset + 40
            let data = name + nameLength + newNameLength
            let end = data + (kind == .write ? length : 0)
            guard end <= bytes.count else { throw Malformed(offset: offset) }
            operations.append(
                DiskOperation(
                    kind: kind, inode: number(8, UInt64.self), offset: Int(number(16, UInt64.self)), length: length,
                    path: text(name, nameLength), newPath: text(name + nameLength, newNameLength),
                    data: Array(bytes[data..<end])))
            offset = end
        }
        return operations
    }
}
