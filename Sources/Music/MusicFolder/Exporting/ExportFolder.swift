import AlbumLibrary
import CoverLibrary
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

/// A file that an export wrote, and whose it is: a line of the file `.sleeve-export.jsonl`, which marks the folder.
///
///     {"sleeve":"export","version":2}
///     {"path":"Cairn/The Long Way Up/cover.jpg","library":"5e…","album":"5b1f…","digest":"ab…","bytes":34567,"modified":1764100000}
///
/// A line is written before its file gets its name, so a path may have several: the file that is there has the digest of one of them, or is a
/// person's.
struct ExportRecord: Hashable, Codable {
    /// Names separated by slashes.
    var path: String
    /// The id of the library that wrote it.
    var library: String?
    /// The id of an album whose cover it is.
    var album: String
    var digest: String
    /// The length in bytes, and when the file was modified, in seconds since 1970: a file that has both is not read.
    var bytes: Int
    var modified: Int
    /// The digest of the cover that the file is a smaller version of, and the longest side that was wanted.
    var source: String?
    var size: Int?

    /// Whether the file has this cover in this size.
    func shows(_ cover: ExportCover, _ size: Int?) -> Bool {
        size == nil ? digest == cover.digest.description : source == cover.digest.description && self.size == size
    }

    /// The names of `path`; nil if it leads out of the folder, as no export writes it.
    var names: [FileName]? {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let names = parts.compactMap { FileName($0) }
        return names.count == parts.count ? names : nil
    }

    func hasTime(of status: stat) -> Bool {
        Int(status.st_size) == bytes && Int(status.modificationTime.tv_sec) == modified
    }

    // MARK: The file

    static let fileName = FileName(".sleeve-export.jsonl")!

    static let head = Array("{\"sleeve\":\"export\",\"version\":2}\n".utf8)

    /// - Returns: The records by paths, the latest last. The file of a line that cannot be read counts as a person's.
    /// - Throws: `LibraryError` if another version wrote them, or they are damaged.
    static func read(_ bytes: [UInt8], path: String) throws(LibraryError) -> [String: [ExportRecord]] {
        guard bytes.starts(with: head) || head.starts(with: bytes) else {
            let isOther = bytes.starts(with: head.prefix { $0 != UInt8(ascii: ",") })
            throw .unreadableFile(
                path: path,
                reason: isOther
                    ? "another version of Sleeve wrote it"
                    : "its first line is damaged; remove it, and the files that it names count as yours")
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let records = lines.compactMap { try? JSONDecoder().decode(ExportRecord.self, from: Data($0)) }
        return Dictionary(grouping: records.filter { $0.names != nil }, by: \.path)
    }

    static func lines(_ records: [ExportRecord]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return records.flatMap { ((try? encoder.encode($0)).map(Array.init) ?? []) + [UInt8(ascii: "\n")] }
    }
}

/// Names a library in the folders to which it exports, also after it was moved: a file of its state directory.
enum LibraryID {
    private static let fileName = FileName("library-id")!

    /// - Returns: Nil if it has no id yet and none is made.
    /// - Throws: `SystemError`.
    static func id(of library: String, creates: Bool) throws(SystemError) -> String? {
        let path = AlbumStore.stateDirectory(of: library)
        if creates { try OwnedPath.makeFolder(path) }
        do throws(SystemError) {
            return String(decoding: try OpenFolder(path: path).file(fileName).contents(), as: UTF8.self)
        } catch {
            guard error.cause == .missing else { throw error }
            if !creates { return nil }
        }
        let file = try NewFile(in: try OpenFolder(path: path), mode: 0o600)
        try file.write(Array(String(UInt64.random(in: 1 ... .max), radix: 16).utf8))
        try file.sync()
        do throws(SystemError) { try file.commit(as: fileName) } catch { if error.cause != .exists { throw error } }
        return try id(of: library, creates: false)
    }
}
