import AlbumLibrary
import Files
import Platform

/// The folder of an export, with what exports wrote into it.
final class ExportFolder {
    /// Nil in a dry run whose folder does not exist.
    private let root: OpenFolder?
    let path: String
    private let journal: StepJournal
    private(set) var records: [String: [ExportRecord]] = [:]
    /// The file differs from `records`.
    private var isChanged = false
    private var hasAppended = false
    /// Folders in which leftovers of killed processes were removed.
    private var swept: Set<String> = []

    /// Opens the folder, and creates it unless it is a dry run.
    /// - Throws: `LibraryError` if it cannot be opened, another process exports to it, or a newer version marked it.
    init(_ path: String, _ journal: StepJournal, isDryRun: Bool) throws(LibraryError) {
        (self.path, self.journal) = (path, journal)
        do throws(SystemError) {
            if !isDryRun { try OwnedPath.makeFolders(path, mode: 0o777) }
            root = try OpenFolder(path: path)
        } catch {
            guard isDryRun, error.cause == .missing else { throw .unwritableFile(path: path, reason: error.reason) }
            root = nil
            return
        }
        guard let root else { return }
        if !isDryRun {
            guard root.lock() else {
                throw .unwritableFile(path: path, reason: "another process exports to it; wait for its end")
            }
            _ = journal.recover()
            root.sweep()
        }
        let file = root.path(of: ExportRecord.fileName)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try root.file(ExportRecord.fileName).contents()
        } catch {
            if error.cause == .missing { return }
            throw .unreadableFile(path: file, reason: error.reason)
        }
        records = try ExportRecord.read(bytes, path: file)
    }

    // MARK: Files

    /// The status of a file; nil if it is missing.
    func status(_ names: [FileName]) throws(SystemError) -> stat? { try root?.status(at: names) }

    /// - Parameter creates: Create the folders above the file, and sweep what killed processes left beside it.
    func file(_ names: [FileName], creates: Bool = false) throws(SystemError) -> OwnFile {
        guard var folder = root else { throw SystemError("open", path: path, number: ENOENT) }
        for name in names.dropLast() {
            if creates { _ = try folder.makeFolder(name) }
            folder = try folder.folder(name)
        }
        if creates, swept.insert(folder.path).inserted { folder.sweep() }
        return OwnFile(names[names.count - 1], in: folder, journal)
    }

    /// Removes a file that an export wrote, and the folders above it that are empty then.
    /// - Throws: `OwnFile.Refusal` or `SystemError`.
    func remove(_ names: [FileName], _ digest: Digest) throws {
        try file(names).remove(.init(digest, isSleeves: true))
        for count in stride(from: names.count - 1, to: 0, by: -1) {
            let parent = try file(Array(names.prefix(count)))
            guard parent.folder.removeEmptyFolder(parent.name) else { return }
        }
    }

    // MARK: Records

    /// Notes files durably that are about to get their names.
    /// - Throws: `SystemError`.
    func note(_ new: [ExportRecord]) throws(SystemError) {
        // The last line may have been cut off.
        let text = hasAppended ? [] : records.isEmpty ? ExportRecord.head : Array("\n".utf8)
        try root?.append(text + ExportRecord.lines(new), to: ExportRecord.fileName)
        (hasAppended, isChanged) = (true, true)
        for record in new { records[record.path, default: []].append(record) }
    }

    /// The file at a path is the record's, or no export's if it is nil.
    func settle(_ record: ExportRecord?, for path: String) {
        let settled = record.map { [$0] }
        if records[path] == settled { return }
        records[path] = settled
        isChanged = true
    }

    /// Makes all that was written durable, and rewrites the records if they changed.
    /// - Throws: `SystemError`. The lines that were noted are still there then.
    func save() throws(SystemError) {
        guard isChanged, let root else { return }
        let file = try NewFile(in: root)
        let lines = records.keys.sorted().flatMap { ExportRecord.lines(records[$0] ?? []) }
        try file.write(ExportRecord.head + lines)
        try file.syncFileSystem()
        try file.commit(as: ExportRecord.fileName, replacing: true)
        try root.sync()
        isChanged = false
    }
}
