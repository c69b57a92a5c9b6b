import Platform
import SleeveStage

/// A disk with a write cache: what is durable, and what power loss may undo.
///
/// POSIX promises little: until a file is synced, each of its changes may be durable or not, in any order, and a write may be torn.
/// The same goes for the names in a directory until the directory is synced.
struct Disk {
    struct File {
        var durable: [UInt8] = []
        /// Changes since the last sync, in order.
        var pending: [DiskOperation] = []

        mutating func sync() {
            for change in pending { Fate.applied.apply(change, to: &durable) }
            pending = []
        }
    }

    enum NameChange {
        case add(String, file: Int)
        case addDirectory(String)
        case remove(String)
        case removeDirectory(String)
        case rename(String, to: String)
        case link(String, to: String)

        /// The new name's, if there are two. No rename leaves its directory.
        var directory: String {
            switch self {
            case .add(let path, _), .addDirectory(let path), .remove(let path), .removeDirectory(let path),
                .rename(_, let path), .link(_, let path):
                DiskOperation.parent(path)
            }
        }
    }

    struct Names {
        var files: [String: Int] = [:]
        var directories: Set<String> = []

        mutating func apply(_ change: NameChange) {
            switch change {
            case .add(let path, let file): files[path] = file
            case .addDirectory(let path): directories.insert(path)
            case .remove(let path): files[path] = nil
            case .removeDirectory(let path): directories.remove(path)
            case .link(let path, let newPath): files[newPath] = files[path] ?? files[newPath]
            case .rename(let path, let newPath):
                // The file's name may not have become durable.
                if let file = files.removeValue(forKey: path) { files[newPath] = file }
            }
        }
    }

    private(set) var files: [File] = []
    private(set) var names = Names()
    private(set) var pendingNames: [NameChange] = []
    private var numbers: [UInt64: Int] = [:]
    let root: String

    /// - Parameter directory: exists, and is empty.
    init(directory: String) { (root, names.directories) = (directory, [directory]) }

    mutating func apply(_ operation: DiskOperation) {
        switch operation.kind {
        case .create:
            numbers[operation.inode] = files.count
            pendingNames.append(.add(operation.path, file: files.count))
            files.append(File())
        case .write, .truncate, .allocate:
            if let number = numbers[operation.inode] { files[number].pending.append(operation) }
        case .sync:
            if let number = numbers[operation.inode] { files[number].sync() }
        case .syncDirectory:
            for change in pendingNames where change.directory == operation.path { names.apply(change) }
            pendingNames.removeAll { $0.directory == operation.path }
        case .syncFileSystem:
            for number in files.indices { files[number].sync() }
            for change in pendingNames { names.apply(change) }
            pendingNames = []
        case .rename: pendingNames.append(.rename(operation.path, to: operation.newPath))
        case .link: pendingNames.append(.link(operation.path, to: operation.newPath))
        case .unlink: pendingNames.append(.remove(operation.path))
        case .makeDirectory: pendingNames.append(.addDirectory(operation.path))
        case .removeDirectory: pendingNames.append(.removeDirectory(operation.path))
        case .failed: break
        }
    }
}
