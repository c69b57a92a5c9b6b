import AlbumLibrary
import CoverLibrary
import Platform

/// Brings a folder to what a plan says. Synchronous, for a thread that may block.
///
/// A file is written under a temporary name, synced in a group, noted in the manifest, and renamed. Killed at any moment it leaves whole
/// files, each of which the manifest knows.
struct Exporter {
    /// Files that are synced together.
    private static let groupSize = 64

    let options: ExportOptions
    let coverPath: (Digest) -> String
    /// A cover in the wanted size; nil if it is gone or cannot be made smaller.
    let smaller: (Digest) -> [UInt8]?
    let onEvent: (ExportEvent) -> Void
    let progress: (ExportSummary) -> Void
    let isCancelled: () -> Bool

    private let folder: ExportFolder
    private var summary = ExportSummary()
    private var group: [Pending] = []
    private var linksFailed = false
    /// Folders that take no files, so that each is named once.
    private var failedFolders: Set<String> = []

    /// A file that is complete and has no name yet.
    private struct Pending {
        var item: ExportPlan.Item
        /// Nil for a hard link.
        var file: NewFile?
        var target: OpenFolder
        var name: FileName
        var record: ExportManifest.Record
        /// The records of the file that it replaces; empty if there is none.
        var former: [ExportManifest.Record]
        var isShared: Bool
    }

    init(
        _ options: ExportOptions, _ folder: ExportFolder, coverPath: @escaping (Digest) -> String,
        smaller: @escaping (Digest) -> [UInt8]?, isCancelled: @escaping () -> Bool,
        onEvent: @escaping (ExportEvent) -> Void,
        progress: @escaping (ExportSummary) -> Void
    ) {
        (self.options, self.folder, self.coverPath, self.smaller) = (options, folder, coverPath, smaller)
        (self.isCancelled, self.onEvent, self.progress) = (isCancelled, onEvent, progress)
    }

    /// - Parameter albums: the ids of all albums.
    mutating func run(_ plan: ExportPlan, albums: Set<String>) -> ExportSummary {
        summary.albums = albums.count
        (summary.missing, summary.merged) = (plan.missing.count, plan.merged)
        if folder.manifest.damaged > 0 { onEvent(.damagedManifest(lines: folder.manifest.damaged)) }
        for item in plan.unsuitable {
            summary.unsuitable += 1
            onEvent(.unsuitable(path: item.path.joined(separator: "/"), mediaType: item.cover.mediaType))
        }
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

    private mutating func export(_ item: ExportPlan.Item) {
        let path = item.path.joined(separator: "/")
        if item.numberedYear != nil { summary.numbered += 1 }
        let former = folder.manifest.records[path] ?? []
        do throws(SystemError) {
            let found = try folder.status(item.path)
            let size = size(of: item)
            switch Self.decision(item, size, found, former) {
            case .unchanged:
                summary.unchanged += 1
                // An older line may name another album, or a version that was not written in the end.
                if former.count > 1, let last = former.last(where: { $0.shows(item.cover, size) }) {
                    folder.settle(last)
                }
            case .write: try write(item, path, former: [])
            case .replace: try write(item, path, former: former)
            case .compare:
                if try folder.digest(item.path) == item.cover.digest {
                    summary.unchanged += 1
                } else {
                    keep(path, former)
                }
            case .keep: keep(path, former)
            }
        } catch {
            fail(path, error)
        }
    }

    /// The wanted size; nil for a cover that is written as it is, as its format cannot be made smaller.
    private func size(of item: ExportPlan.Item) -> Int? {
        item.cover.mediaType == "image/jpeg" ? options.longestSide : nil
    }

    private enum Decision: Equatable {
        case unchanged, write
        /// The file is an export's, of another cover.
        case replace
        /// The file is no export's, and may have the same bytes.
        case compare
        case keep
    }

    private static func decision(
        _ item: ExportPlan.Item, _ size: Int?, _ found: stat?, _ former: [ExportManifest.Record]
    ) -> Decision {
        guard let found else { return .write }
        let matching = former.filter { $0.matches(found) }
        if matching.contains(where: { $0.shows(item.cover, size) }) { return .unchanged }
        if !matching.isEmpty { return .replace }
        let mayBeEqual = found.st_mode & S_IFMT == S_IFREG && Int(found.st_size) == item.cover.bytes
        return mayBeEqual && size == nil ? .compare : .keep
    }

    private mutating func keep(_ path: String, _ former: [ExportManifest.Record]) {
        summary.kept += 1
        onEvent(
            .kept(
                path: path,
                reason: former.isEmpty ? "no export wrote it" : "it was changed since an export wrote it"))
    }

    private mutating func write(
        _ item: ExportPlan.Item, _ path: String, former: [ExportManifest.Record]
    ) throws(SystemError) {
        let parent = item.path.dropLast().joined(separator: "/")
        if failedFolders.contains(parent) {
            summary.failed += 1
            return
        }
        if options.isDryRun {
            summary.written += 1
            // How many a smaller picture has is not known before it is made.
            if size(of: item) == nil { summary.bytes += item.cover.bytes }
            return onEvent(.written(path: path, isNew: former.isEmpty, numberedYear: item.numberedYear))
        }
        guard let name = FileName(item.path[item.path.count - 1]) else { return }
        if let size = size(of: item) { return try write(item, path, name, size, former) }
        guard let source = try cover(item, path) else { return }
        let target = try folder.makeFolder(item.path.dropLast())
        var (file, isShared, modified): (NewFile?, Bool, Int)
        if options.usesHardLinks, !linksFailed {
            (file, isShared, modified) = (nil, true, Int(source.status.modificationTime.tv_sec))
        } else {
            let new = try NewFile(in: target)
            isShared = try new.copy(source) == .reflink
            modified = Int(try new.status().modificationTime.tv_sec)
            file = new
        }
        let record = ExportManifest.Record(
            path: path, album: item.albumID, digest: item.cover.digest.description, bytes: item.cover.bytes,
            modified: modified)
        group.append(
            Pending(
                item: item, file: file, target: target, name: name, record: record, former: former, isShared: isShared))
        if group.count >= Self.groupSize { commitGroup() }
    }

    /// Writes a cover in a smaller size.
    private mutating func write(
        _ item: ExportPlan.Item, _ path: String, _ name: FileName, _ size: Int, _ former: [ExportManifest.Record]
    ) throws(SystemError) {
        guard let bytes = smaller(item.cover.digest) else {
            summary.failed += 1
            return onEvent(.failed(path: path, reason: "the cover is damaged, or too large to be made smaller"))
        }
        let target = try folder.makeFolder(item.path.dropLast())
        let file = try NewFile(in: target)
        try file.write(bytes)
        let record = ExportManifest.Record(
            path: path, album: item.albumID, digest: Digest(of: bytes).description, bytes: bytes.count,
            modified: Int(try file.status().modificationTime.tv_sec), source: item.cover.digest.description, size: size)
        group.append(
            Pending(
                item: item, file: file, target: target, name: name, record: record, former: former, isShared: false))
        if group.count >= Self.groupSize { commitGroup() }
    }

    /// The cover's file in the cache, its bytes checked; nil, reported, if they are damaged or gone.
    private mutating func cover(_ item: ExportPlan.Item, _ path: String) throws(SystemError) -> SourceFile? {
        let source: SourceFile
        do throws(SystemError) {
            source = try SourceFile(path: coverPath(item.cover.digest))
        } catch {
            guard error.cause == .missing else { throw error }
            // Evicted since the index was read.
            summary.missing += 1
            return nil
        }
        let digest = try source.digest()
        if digest == item.cover.digest { return source }
        summary.failed += 1
        onEvent(
            .failed(
                path: path, reason: "the cover's bytes in the cache are damaged; `sleeve verify --repair` drops them"))
        return nil
    }

    /// Gives the files of the group their names.
    private mutating func commitGroup() {
        let group = group
        self.group = []
        if group.isEmpty { return }
        do throws(SystemError) {
            let files = group.compactMap(\.file)
            if !files.isEmpty { try NewFile.sync(files) }
            try folder.note(group.map(\.record))
        } catch {
            summary.failed += group.count - 1
            return fail(group[0].record.path, error)
        }
        for pending in group {
            do throws(SystemError) {
                try commit(pending)
            } catch {
                fail(pending.record.path, error)
            }
        }
    }

    private mutating func commit(_ pending: Pending) throws(SystemError) {
        let path = pending.record.path
        var replaces = false
        if !pending.former.isEmpty {
            // Its time and its length are an export's. Before it is replaced, so must be its bytes.
            let digest = try folder.digest(pending.item.path)
            guard pending.former.contains(where: { $0.digest == digest.description }) else {
                return keep(path, pending.former)
            }
            replaces = true
        }
        var isShared = pending.isShared
        if let file = pending.file {
            try file.commit(as: pending.name, replacing: replaces)
        } else {
            let source = try SourceFile(path: coverPath(pending.item.cover.digest))
            if let refusal = try link(source, pending, replacing: replaces) {
                if !linksFailed { onEvent(.copiesInsteadOfLinks(reason: refusal.reason)) }
                linksFailed = true
                return try copy(source, pending, replacing: replaces)
            }
            isShared = true
        }
        didWrite(pending, pending.record, isShared: isShared)
    }

    /// - Returns: why the file systems cannot have this link.
    private func link(
        _ source: borrowing SourceFile, _ pending: Pending, replacing replaces: Bool
    ) throws(SystemError) -> SystemError? {
        do throws(SystemError) {
            try pending.target.link(source, as: pending.name, replacing: replaces)
        } catch {
            if [.exists, .readOnly, .full, .quota, .nameTooLong].contains(error.cause) { throw error }
            return error
        }
        return nil
    }

    /// A copy in place of a hard link.
    private mutating func copy(
        _ source: borrowing SourceFile, _ pending: Pending, replacing replaces: Bool
    ) throws(SystemError) {
        let file = try NewFile(in: pending.target)
        let isShared = try file.copy(source) == .reflink
        try file.sync()
        var record = pending.record
        record.modified = Int(try file.status().modificationTime.tv_sec)
        try folder.note([record])
        try file.commit(as: pending.name, replacing: replaces)
        didWrite(pending, record, isShared: isShared)
    }

    private mutating func didWrite(_ pending: Pending, _ record: ExportManifest.Record, isShared: Bool) {
        folder.settle(record)
        summary.written += 1
        summary.bytes += record.bytes
        if isShared { summary.shared += 1 }
        onEvent(
            .written(
                path: record.path, isNew: pending.former.isEmpty, numberedYear: pending.item.numberedYear))
    }

    private mutating func fail(_ path: String, _ error: SystemError) {
        let target = folder.path
        switch error.cause {
        case .full:
            summary.stopReason =
                "the disk of \(target) is full; make room and run the command again: it writes only what is missing"
        case .quota:
            summary.stopReason =
                "your quota on the disk of \(target) is used up; make room and run the command again"
        case .readOnly: summary.stopReason = "\(target) is on a file system that is mounted read-only"
        case .exists:
            // It appeared while its group was written.
            summary.kept += 1
            return onEvent(.kept(path: path, reason: "no export wrote it"))
        case .notPermitted:
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            if failedFolders.insert(parent).inserted {
                onEvent(.failed(path: parent.isEmpty ? target : parent, reason: error.reason))
            }
        case .notAFolder: onEvent(.failed(path: path, reason: "a part of its path is a file or a symbolic link"))
        default: onEvent(.failed(path: path, reason: error.reason))
        }
        summary.failed += 1
    }

    // MARK: Pruning

    /// Removes, or counts, what exports wrote for albums and names that are gone. An album whose cover is not cached keeps its file.
    private mutating func prune(_ plan: ExportPlan, _ albums: Set<String>) {
        let wanted = Set((plan.items + plan.unsuitable).map { $0.path.joined(separator: "/") })
        let placed = albums.subtracting(plan.missing)
        for (path, records) in folder.manifest.records.sorted(by: { $0.key < $1.key }) {
            guard !wanted.contains(path), let last = records.last, let names = last.names else { continue }
            if albums.contains(last.album), !placed.contains(last.album) { continue }
            do throws(SystemError) {
                guard let status = try folder.status(names) else {
                    folder.settle(nil, for: path)
                    continue
                }
                guard records.contains(where: { $0.matches(status) }) else {
                    // A person's now.
                    folder.settle(nil, for: path)
                    continue
                }
                summary.outdated += 1
                if !options.prunes { continue }
                if !options.isDryRun {
                    let digest = try folder.digest(names).description
                    guard records.contains(where: { $0.digest == digest }) else {
                        summary.outdated -= 1
                        folder.settle(nil, for: path)
                        continue
                    }
                    try folder.remove(names)
                    folder.settle(nil, for: path)
                }
                onEvent(.removed(path: path))
            } catch {
                summary.failed += 1
                onEvent(.failed(path: path, reason: error.reason))
            }
        }
    }
}
