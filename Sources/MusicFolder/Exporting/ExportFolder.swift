import AlbumLibrary
import Platform

/// The folder of an export, with its manifest.
final class ExportFolder {
    /// Nil in a dry run whose folder does not exist.
    private let root: OpenFolder?
    let path: String
    private(set) var manifest: ExportManifest
    /// The manifest's file differs from `manifest`.
    private var isChanged = false
    private var hasAppended = false
    /// Folders in which leftovers of killed processes were removed.
    private var swept: Set<String> = []

    /// Opens the folder, and creates it unless it is a dry run.
    /// - Throws: `LibraryError` if it cannot be opened, another process exports to it, or a newer version wrote its manifest.
    init(_ path: String, isDryRun: Bool) throws(LibraryError) {
        self.path = path
        do throws(SystemError) {
            if !isDryRun { try Self.create(path) }
            root = try OpenFolder(path: path)
        } catch {
            guard isDryRun, error.cause == .missing else { throw .unwritableFile(path: path, reason: error.reason) }
            (root, manifest) = (nil, ExportManifest())
            return
        }
        if let root, !isDryRun, !root.lock() {
            throw .unwritableFile(path: path, reason: "another process exports to it; wait for its end")
        }
        manifest = try Self.manifest(in: root)
        if !isDryRun { root?.sweep() }
    }

    /// Creates a folder and those above it that are missing.
    private static func create(_ path: String) throws(SystemError) {
        if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
        let parent = AtomicFile.directory(of: path)
        guard errno == ENOENT, parent != path, parent != "." else { throw SystemError("create", path: path) }
        try create(parent)
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw SystemError("create", path: path) }
    }

    private static func manifest(in root: OpenFolder?) throws(LibraryError) -> ExportManifest {
        guard let root else { return ExportManifest() }
        let path = root.path(of: ExportManifest.fileName)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try root.file(ExportManifest.fileName).contents()
        } catch {
            if error.cause == .missing { return ExportManifest() }
            throw .unreadableFile(path: path, reason: error.reason)
        }
        return try ExportManifest(bytes, path: path)
    }

    // MARK: Files

    private func names(_ path: some Sequence<String>) -> [FileName] { path.compactMap { FileName($0) } }

    /// The status of a file; nil if it is missing.
    func status(_ path: [String]) throws(SystemError) -> stat? { try status(names(path)) }

    func status(_ names: [FileName]) throws(SystemError) -> stat? { try root?.status(at: names) }

    /// The digest of a file.
    func digest(_ path: [String]) throws(SystemError) -> Digest { try digest(names(path)) }

    func digest(_ names: [FileName]) throws(SystemError) -> Digest {
        guard let parent = try open(names.dropLast()) else { throw SystemError("open", path: path, number: ENOENT) }
        return try parent.file(names[names.count - 1]).digest()
    }

    /// Opens a folder below, and creates it if it is missing.
    func makeFolder(_ path: some Sequence<String>) throws(SystemError) -> OpenFolder {
        guard var folder = root else { throw SystemError("open", path: self.path, number: ENOENT) }
        var key = ""
        for name in names(path) {
            _ = try folder.makeFolder(name)
            folder = try folder.folder(name)
            key += "/\(name)"
        }
        if !key.isEmpty, swept.insert(key).inserted { folder.sweep() }
        return folder
    }

    private func open(_ names: some Sequence<FileName>) throws(SystemError) -> OpenFolder? {
        var folder = root
        for name in names { folder = try folder?.folder(name) }
        return folder
    }

    /// Removes a file and the folders above it that are empty then.
    func remove(_ names: [FileName]) throws(SystemError) {
        try open(names.dropLast())?.remove(names[names.count - 1])
        for count in stride(from: names.count - 1, to: 0, by: -1) {
            guard try open(names.prefix(count - 1))?.removeEmptyFolder(names[count - 1]) == true else { return }
        }
    }

    // MARK: The manifest

    /// Notes files durably that are about to get their names.
    /// - Throws: `SystemError`.
    func note(_ records: [ExportManifest.Record]) throws(SystemError) {
        // The last line may have been cut off.
        let text = hasAppended ? [] : manifest.records.isEmpty ? ExportManifest().text : Array("\n".utf8)
        try root?.append(text + ExportManifest.lines(records), to: ExportManifest.fileName)
        (hasAppended, isChanged) = (true, true)
        for record in records { manifest.add(record) }
    }

    /// The file at the record's path is this one.
    func settle(_ record: ExportManifest.Record) { settle(record, for: record.path) }

    /// The file at a path is the record's, or no export's if it is nil.
    func settle(_ record: ExportManifest.Record?, for path: String) {
        manifest.set(record, for: path)
        isChanged = true
    }

    /// Makes all that was written durable, and rewrites the manifest if it changed.
    /// - Throws: `SystemError`. The lines that were noted are still there then.
    func save() throws(SystemError) {
        guard isChanged, let root else { return }
        let file = try NewFile(in: root)
        try file.write(manifest.text)
        try file.syncFileSystem()
        try file.commit(as: ExportManifest.fileName, replacing: true)
        try root.sync()
        isChanged = false
    }
}
