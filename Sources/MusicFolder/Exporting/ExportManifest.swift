import AlbumLibrary
import CoverLibrary
import Platform

/// What exports wrote into a folder: JSON lines in its file `.sleeve-export.jsonl`.
///
///     {"sleeve":"export","version":1}
///     {"path":"Cairn/The Long Way Up/cover.jpg","album":"5b1f…","digest":"ab…","bytes":34567,"modified":1764100000}
///
/// A line is written before its file gets its name, so a path may have several: the file that is there is one of them, or a person's.
struct ExportManifest {
    struct Record: Hashable, Codable {
        /// Names separated by slashes.
        var path: String
        /// The id of an album whose cover it is.
        var album: String
        var digest: String
        /// Length in bytes.
        var bytes: Int
        /// When the file was modified, in seconds since 1970.
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

        /// Whether a file may be the recorded one. Some file systems keep times in steps of two seconds.
        func matches(_ status: stat) -> Bool {
            status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) == bytes
                && abs(Double(status.modificationTime.tv_sec) - Double(modified)) <= 2
        }
    }

    private struct Head: Codable {
        var sleeve: String
        var version: Int
    }

    static let fileName = FileName(".sleeve-export.jsonl")!
    private static let version = 1

    /// In the order of writing, the latest last.
    private(set) var records: [String: [Record]] = [:]
    /// Lines that could not be read.
    private(set) var damaged = 0

    init() {}

    /// - Throws: `LibraryError` if a newer version wrote it.
    init(_ bytes: [UInt8], path: String) throws(LibraryError) {
        let decoder = JSONDecoder()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let record = try? decoder.decode(Record.self, from: Data(line)), record.names != nil {
                records[record.path, default: []].append(record)
            } else if let head = try? decoder.decode(Head.self, from: Data(line)), head.sleeve == "export" {
                guard head.version <= Self.version else {
                    throw .unreadableFile(path: path, reason: "a newer version of Sleeve wrote it")
                }
            } else {
                damaged += 1
            }
        }
    }

    mutating func add(_ record: Record) { records[record.path, default: []].append(record) }

    /// Keeps one record of a path, or none.
    mutating func set(_ record: Record?, for path: String) { records[path] = record.map { [$0] } }

    static func lines(_ records: [Record]) -> [UInt8] {
        records.reduce(into: []) { bytes, record in
            var line = JSONObject()
            line.add("path", record.path)
            line.add("album", record.album)
            line.add("digest", record.digest)
            line.add("bytes", record.bytes)
            line.add("modified", record.modified)
            if let source = record.source {
                line.add("source", source)
                line.add("size", record.size)
            }
            bytes += (line.text + "\n").utf8
        }
    }

    /// The whole file, in the order of paths.
    var text: [UInt8] {
        var head = JSONObject()
        head.add("sleeve", "export")
        head.add("version", Self.version)
        return Array((head.text + "\n").utf8) + Self.lines(records.keys.sorted().flatMap { records[$0] ?? [] })
    }
}
