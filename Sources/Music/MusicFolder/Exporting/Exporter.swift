import AlbumLibrary
import CoverLibrary
import Files
import Platform

/// Brings a folder to what a plan says. Synchronous, for a thread that may block.
///
/// A file is written under a temporary name, synced in a group, noted, and gets its name by `OwnFile`. Killed at any moment it leaves whole
/// files, each of which is noted.
struct Exporter {
    /// Files that are synced together.
    private static let groupSize = 64

    let options: ExportOptions
    /// The id of the library; nil in the dry run of one that has none.
    let library: String?
    /// The file that has a cover's bytes.
    let coverPath: (ExportCover) -> BytePath
    /// A cover in the wanted size; nil if it is gone or cannot be made smaller.
    let smaller: (ExportCover) -> [UInt8]?
    let onEvent: (ExportEvent) -> Void
    let progress: (ExportSummary) -> Void
    let isCancelled: () -> Bool

    private let folder: ExportFolder
    private var summary = ExportSummary()
    private var group: [Pending] = []

    /// A file that is complete and has no name yet.
    private struct Pending {
        var new: NewFile
        var file: OwnFile
        var record: ExportRecord
        /// The digest of the export's file that it replaces; nil if there is none.
        var former: Digest?
    }

    init(
        _ options: ExportOptions, _ folder: ExportFolder, library: String?,
        coverPath: @escaping (ExportCover) -> BytePath,
        smaller: @escaping (ExportCover) -> [UInt8]?, isCancelled: @escaping () -> Bool,
        onEvent: @escaping (ExportEvent) -> Void, progress: @escaping (ExportSummary) -> Void
    ) {
        (self.options, self.folder, self.library) = (options, folder, library)
        (self.coverPath, self.smaller) = (coverPath, smaller)
        (self.isCancelled, self.onEvent, self.progress) = (isCancelled, onEvent, progress)
    }

    /// - Parameter albums: the ids of all albums.
    mutating func run(_ plan: ExportPlan, albums: Set<String>) -> ExportSummary {
        summary.albums = albums.count
        summary.missing = plan.missing.count
        for (index, item) in plan.items.enumerated() {
            if isCancelled() {
                summary.isCancelled = true
                break
            }
            if summary.stopReason != nil {
                summary.failed += plan.items.count - index
                break
            }
            export(item)
            if index % 100 == 99 { progress(summary) }
        }
        commitGroup()
        if summary.stopReason == nil, !summary.isCancelled { prune(plan, albums) }
        if options.isDryRun { return summary }
        do throws(SystemError) {
            try folder.save()
        } catch {
            summary.stopReason = summary.stopReason ?? "cannot \(error)"
        }
        return summary
    }

    // MARK: Writing

    /// What is at a path.
    private enum Found {
        case nothing
        /// The cover. The record is the file's, or nil if it is no export's.
        case cover(ExportRecord?)
        /// Another cover, which this library may replace.
        case former(Digest)
        case kept(reason: String)
    }

    private mutating func export(_ item: ExportPlan.Item) {
        let path = item.path.joined(separator: "/")
        if let type = options.pattern.mediaType, type != item.cover.mediaType {
            return fail(path, "the cover is \(item.cover.mediaType)")
        }
        do {
            switch try find(item, path) {
            case .cover(let record):
                summary.unchanged += 1
                if let record { folder.settle(record, for: path) }
            case .nothing: try write(item, path, former: nil)
            case .former(let digest): try write(item, path, former: digest)
            case .kept(let reason): keep(path, reason)
            }
        } catch {
            fail(path, error)
        }
    }

    private func find(_ item: ExportPlan.Item, _ path: String) throws(SystemError) -> Found {
        let names = item.path.compactMap { FileName($0) }
        guard let status = try folder.status(names) else { return .nothing }
        let size = size(of: item)
        let records = folder.records[path] ?? []
        let isFile = status.st_mode & S_IFMT == S_IFREG
        if isFile, let record = records.last(where: { $0.hasTime(of: status) && $0.shows(item.cover, size) }) {
            return .cover(record)
        }
        guard isFile, let digest = try folder.file(names).digest() else { return .kept(reason: "no export wrote it") }
        guard var record = records.last(where: { $0.digest == digest.description }) else {
            if size == nil, digest == item.cover.digest { return .cover(nil) }
            return .kept(reason: records.isEmpty ? "no export wrote it" : "it was changed since an export wrote it")
        }
        if record.shows(item.cover, size) {
            (record.bytes, record.modified) = (Int(status.st_size), Int(status.modificationTime.tv_sec))
            return .cover(record)
        }
        if record.library != library {
            return .kept(reason: "the export of another library wrote it")
        }
        return .former(digest)
    }

    /// The wanted size; nil for a cover that is written as it is, as its format cannot be made smaller.
    private func size(of item: ExportPlan.Item) -> Int? {
        item.cover.mediaType == "image/jpeg" ? options.longestSide : nil
    }

    private mutating func keep(_ path: String, _ reason: String) {
        summary.kept += 1
        onEvent(.kept(path: path, reason: reason))
    }

    private mutating func write(_ item: ExportPlan.Item, _ path: String, former: Digest?) throws {
        if options.isDryRun {
            summary.written += 1
            // How many a smaller picture has is not known before it is made.
            if size(of: item) == nil { summary.bytes += item.cover.bytes }
            return onEvent(.written(path: path, isNew: former == nil))
        }
        let names = item.path.compactMap { FileName($0) }
        var record = ExportRecord(
            path: path, library: library, album: item.albumID, digest: item.cover.digest.description, bytes: 0,
            modified: 0)
        let (file, new): (OwnFile, NewFile)
        if let size = size(of: item) {
            guard let bytes = smaller(item.cover) else {
                return fail(path, "the cover is damaged, or too large to be made smaller")
            }
            file = try folder.file(names, creates: true)
            new = try NewFile(in: file.folder)
            try new.write(bytes)
            record.digest = Digest(of: bytes).description
            (record.source, record.size) = (item.cover.digest.description, size)
        } else {
            guard let source = try source(of: item.cover) else { return }
            guard try source.digest() == item.cover.digest else {
                return fail(
                    path, "the cover's bytes in the cache are damaged; `sleeve cache verify --repair` drops them")
            }
            file = try folder.file(names, creates: true)
            new = try NewFile(in: file.folder)
            try new.copy(source)
        }
        let status = try new.status()
        (record.bytes, record.modified) = (Int(status.st_size), Int(status.modificationTime.tv_sec))
        group.append(Pending(new: new, file: file, record: record, former: former))
        if group.count >= Self.groupSize { commitGroup() }
    }

    /// The file of a cover; nil, counted, if it was evicted since the index was read.
    private mutating func source(of cover: ExportCover) throws(SystemError) -> SourceFile? {
        do throws(SystemError) {
            return try SourceFile(path: coverPath(cover).bytes)
        } catch {
            guard error.cause == .missing else { throw error }
            summary.missing += 1
            return nil
        }
    }

    /// Gives the files of the group their names.
    private mutating func commitGroup() {
        let group = group
        self.group = []
        if group.isEmpty { return }
        do throws(SystemError) {
            try NewFile.sync(group.map(\.new))
            try folder.note(group.map(\.record))
        } catch {
            summary.failed += group.count - 1
            return fail(group[0].record.path, error)
        }
        for pending in group {
            do {
                if let former = pending.former {
                    try pending.file.replace(.init(former, isSleeves: true), by: pending.new)
                } else {
                    try pending.file.create(pending.new)
                }
                folder.settle(pending.record, for: pending.record.path)
                summary.written += 1
                summary.bytes += pending.record.bytes
                onEvent(.written(path: pending.record.path, isNew: pending.former == nil))
            } catch {
                fail(pending.record.path, error)
            }
        }
    }

    private mutating func fail(_ path: String, _ reason: String) {
        summary.failed += 1
        onEvent(.failed(path: path, reason: reason))
    }

    private mutating func fail(_ path: String, _ error: any Error) {
        if let refusal = error as? OwnFile.Refusal { return keep(path, "it \(refusal.reason)") }
        guard let error = error as? SystemError else { return fail(path, "\(error)") }
        let target = folder.path
        switch error.cause {
        case .full:
            summary.stopReason =
                "the disk of \(target) is full; make room and run the command again: it writes only what is missing"
        case .quota:
            summary.stopReason =
                "your quota on the disk of \(target) is used up; make room and run the command again"
        case .readOnly: summary.stopReason = "\(target) is on a file system that is mounted read-only"
        // It appeared while its group was written.
        case .exists: return keep(path, "no export wrote it")
        case .notAFolder: onEvent(.failed(path: path, reason: "a part of its path is a file or a symbolic link"))
        default: onEvent(.failed(path: path, reason: error.reason))
        }
        summary.failed += 1
    }

    // MARK: Pruning

    /// Removes, or counts, what exports of this library wrote for albums and names that are gone. An album whose cover is not cached keeps its
    /// file.
    private mutating func prune(_ plan: ExportPlan, _ albums: Set<String>) {
        let wanted = Set(plan.items.map { $0.path.joined(separator: "/") })
        let spellings = Dictionary(wanted.map { (SafeName.folded($0), $0) }) { first, _ in first }
        let placed = albums.subtracting(plan.missing)
        for (path, records) in folder.records.sorted(by: { $0.key < $1.key }) where !wanted.contains(path) {
            guard let last = records.last, last.library == library, let names = last.names else { continue }
            if albums.contains(last.album), !placed.contains(last.album) { continue }
            do {
                guard let status = try folder.status(names), let digest = try folder.file(names).digest(),
                    records.contains(where: { $0.digest == digest.description }),
                    try !isFile(spellings[SafeName.folded(path)], status)
                else {
                    // It is gone, a person's now, or the wanted file in another spelling.
                    folder.settle(nil, for: path)
                    continue
                }
                summary.outdated += 1
                if !options.prunes { continue }
                if !options.isDryRun {
                    try folder.remove(names, digest)
                    folder.settle(nil, for: path)
                }
                onEvent(.removed(path: path))
            } catch {
                summary.failed += 1
                onEvent(.failed(path: path, reason: (error as? SystemError)?.reason ?? "it is in use, or was changed"))
            }
        }
    }

    /// Whether a path leads to the file with this status: some file systems ignore case.
    private func isFile(_ path: String?, _ status: stat) throws(SystemError) -> Bool {
        guard let names = path?.split(separator: "/").compactMap({ FileName(String($0)) }),
            let other = try folder.status(names)
        else { return false }
        return other.st_dev == status.st_dev && other.st_ino == status.st_ino
    }
}
