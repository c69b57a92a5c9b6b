import AlbumLibrary
import CoverLibrary
import Files
import Platform

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
