import Files
import Platform

/// Walks music folders, depth first, in the order of the names' bytes.
///
/// A folder is entered once, whatever leads to it. Links come after everything else: one that leads to a file or a folder that was walked
/// adds nothing. A folder that contains links to files is therefore visited last.
package struct FolderWalk {
    /// What a walk finds.
    package enum Event: Sendable {
        /// A folder with audio files or pictures.
        case folder(FolderListing)
        case problem(MusicProblem)
        /// A folder with temporary files of a fill, which was killed or is running.
        case leftovers(BytePath)
        /// A link that is not followed because it leads out of the scanned folder.
        case outside(BytePath)
        case leftOut(LeftOut.Reason, BytePath)
    }

    /// Deeper folders are a problem: each level needs a file descriptor.
    private static let maximumDepth = 200

    private let followsOutside: Bool
    private let send: (Event) throws -> Void
    private var root = BytePath(bytes: [])
    private var folders: Set<FileStatus.Identity> = []
    private var files: Set<FileStatus.Identity> = []
    /// Folders with links to files, and links to folders: paths of links.
    private var (waiting, links): ([(listing: FolderListing, links: [[UInt8]])], [BytePath]) = ([], [])

    /// - Parameters:
    ///   - followsOutside: Follow links that lead out of the scanned folder.
    ///   - visit: Called with each event. What it throws ends the walk.
    package init(followsOutside: Bool, visit: @escaping (Event) throws -> Void) {
        self.followsOutside = followsOutside
        send = visit
    }

    /// Walks a folder. Folders that an earlier call has walked are not visited again.
    /// - Parameter root: A path without links.
    package mutating func walk(_ root: BytePath) throws {
        self.root = root
        try enter(root, name: root.bytes, parent: AT_FDCWD, depth: 0, isLink: false)
        // Following a link may find others.
        while !links.isEmpty {
            let found = links
            links = []
            for link in found { try follow(link) }
        }
        for (listing, links) in waiting { try finish(listing, links) }
        waiting = []
    }

    // MARK: Folders

    private mutating func enter(_ path: BytePath, name: [UInt8], parent: Int32, depth: Int, isLink: Bool) throws {
        if depth > Self.maximumDepth {
            return try problem(path, "is nested more than \(Self.maximumDepth) folders deep")
        }
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (isLink || depth == 0 ? 0 : O_NOFOLLOW)
        let descriptor = name.withCString { openat(parent, $0, flags) }
        guard descriptor >= 0 else { return try problem(path, SystemError("open").reason) }
        guard let stream = fdopendir(descriptor) else {
            let reason = SystemError("read").reason
            close(descriptor)
            return try problem(path, reason)
        }
        defer { closedir(stream) }
        do throws(SystemError) {
            // A bind mount can make a folder its own descendant.
            guard folders.insert(try FileStatus(descriptor: descriptor).identity).inserted else { return }
        } catch {
            return try problem(path, error.reason)
        }
        var (names, isExcluded, hasLeftovers) = ([(name: [UInt8], type: UInt8)](), false, false)
        errno = 0
        while let entry = readdir(stream) {
            let (name, type) = Self.read(entry)
            if !Self.isHidden(name) {
                names.append((name, type))
            } else if MusicNames.markers.contains(String(decoding: name, as: UTF8.self)),
                let marker = try? FileStatus(name, in: descriptor, followsLinks: true), marker.size == 0
            {
                isExcluded = true
            } else if FileName(name).map(NewFile.isTemporary) == true {
                hasLeftovers = true
            } else if type == UInt8(DT_DIR) || type == UInt8(DT_UNKNOWN), Self.isMusicLeftOut(in: path.appending(name))
            {
                try send(.leftOut(.hidden, path.appending(name)))
            }
            errno = 0
        }
        if errno != 0 { try problem(path, SystemError("read").reason) }
        if hasLeftovers { try send(.leftovers(path)) }
        if isExcluded {
            if Self.hasAudio(path) { try send(.leftOut(.excluded, path)) }
            return
        }
        names.sort { $0.name.lexicographicallyPrecedes($1.name) }
        try visit(names, of: path, descriptor, depth)
    }

    private static func read(_ entry: UnsafeMutablePointer<dirent>) -> (name: [UInt8], type: UInt8) {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
        let start = UnsafeRawPointer(entry) + offset
        let count = strlen(start.assumingMemoryBound(to: CChar.self))
        return (Array(UnsafeRawBufferPointer(start: start, count: count)), entry.pointee.d_type)
    }

    private mutating func visit(
        _ names: [(name: [UInt8], type: UInt8)], of path: BytePath, _ descriptor: Int32, _ depth: Int
    ) throws {
        var (listing, fileLinks, sheets) = (FolderListing(path: path), [[UInt8]](), 0)
        var subfolders: [[UInt8]] = []
        for (name, type) in names {
            if type == UInt8(DT_DIR) {
                if !StorageNames.contains(name) { subfolders.append(name) }
                continue
            }
            let isMusic = Self.isMusic(name)
            if !isMusic, MusicNames.isUnreadAudio(name) { try send(.leftOut(.format, path.appending(name))) }
            if !isMusic, MusicNames.fileExtension(name) == "cue" { sheets += 1 }
            if type == UInt8(DT_REG), !isMusic { continue }
            let file = path.appending(name)
            switch Self.status(name, in: descriptor) {
            case .failure(let error):
                try problem(file, error.number == ELOOP ? "is a loop of links" : error.reason)
            case .success(let (status, isLink)):
                switch status.kind {
                case .folder where StorageNames.contains(name): break
                case .folder: if isLink { links.append(file) } else { subfolders.append(name) }
                case .file where !isMusic: break
                case .file: if isLink { fileLinks.append(name) } else { add(name, status, to: &listing) }
                // It leads to nothing, and has the name nevertheless.
                case .link: add(name, status, to: &listing)
                case let kind: if isMusic || !isLink { try problem(file, "is \(kind.rawValue)") }
                }
            }
        }
        if !listing.audio.isEmpty, sheets >= listing.audio.count { try send(.leftOut(.image, path)) }
        if !fileLinks.isEmpty {
            waiting.append((listing, fileLinks))
        } else if !listing.audio.isEmpty || !listing.pictures.isEmpty {
            try send(.folder(listing))
        }
        for name in subfolders {
            try enter(path.appending(name), name: name, parent: descriptor, depth: depth + 1, isLink: false)
        }
    }

    /// The status of an entry, or of what it leads to if it is a link.
    private static func status(_ name: [UInt8], in folder: Int32) -> Result<(FileStatus, isLink: Bool), SystemError> {
        do throws(SystemError) {
            let status = try FileStatus(name, in: folder, followsLinks: false)
            if status.kind != .link { return .success((status, false)) }
            do throws(SystemError) {
                return .success((try FileStatus(name, in: folder, followsLinks: true), true))
            } catch {
                guard error.number == ENOENT, MusicNames.isPicture(name) else { throw error }
                return .success((status, true))
            }
        } catch {
            return .failure(error)
        }
    }

    /// Whether a name is hidden. Albums may begin with an ellipsis: "...And Justice for All".
    private static func isHidden(_ name: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        return name.first == dot && (name.count < 3 || name[1] != dot)
    }

    /// Whether a hidden folder is to be said: what a desktop has thrown away is not.
    private static func isMusicLeftOut(in folder: BytePath) -> Bool {
        // The folder itself and the one above have names, too.
        guard FileName(folder.name) != nil else { return false }
        return !String(decoding: folder.name, as: UTF8.self).lowercased().hasPrefix(".trash") && hasAudio(folder)
    }

    /// Whether a folder, or one in it, has audio files.
    private static func hasAudio(_ path: BytePath, levels: Int = 2) -> Bool {
        guard let names = try? OpenFolder(path: path.bytes).names().map(\.bytes) else { return false }
        return names.contains { !isHidden($0) && MusicNames.isAudio($0) }
            || levels > 1 && names.contains { !isHidden($0) && hasAudio(path.appending($0), levels: levels - 1) }
    }

    private static func isMusic(_ name: [UInt8]) -> Bool { MusicNames.isAudio(name) || MusicNames.isPicture(name) }

    private mutating func add(_ name: [UInt8], _ status: FileStatus, to listing: inout FolderListing) {
        let entry = FolderListing.Entry(
            name: name, size: status.size, modified: status.modified, changed: status.changed)
        if MusicNames.isAudio(name) {
            files.insert(status.identity)
            listing.audio.append(entry)
        } else {
            listing.pictures.append(entry)
        }
    }

    // MARK: Links

    private mutating func follow(_ link: BytePath) throws {
        guard try isAllowed(link) else { return }
        // A link to one of the folders that contain it.
        if let target = link.resolved, let folder = link.parent?.resolved, folder.isInside(target) {
            return try problem(link, "is a link to a folder that contains it: a loop")
        }
        try enter(link, name: link.bytes, parent: AT_FDCWD, depth: 1, isLink: true)
    }

    private mutating func finish(_ listing: FolderListing, _ links: [[UInt8]]) throws {
        var listing = listing
        for name in links {
            let link = listing.path.appending(name)
            guard try isAllowed(link) else { continue }
            switch Self.status(link.bytes, in: AT_FDCWD) {
            case .failure(let error): try problem(link, error.reason)
            case .success(let (status, _)):
                if status.kind == .file, !files.contains(status.identity) { add(name, status, to: &listing) }
            }
        }
        listing.audio.sort { $0.name.lexicographicallyPrecedes($1.name) }
        listing.pictures.sort { $0.name.lexicographicallyPrecedes($1.name) }
        if !listing.audio.isEmpty || !listing.pictures.isEmpty { try send(.folder(listing)) }
    }

    private func isAllowed(_ link: BytePath) throws -> Bool {
        if followsOutside { return true }
        guard let target = link.resolved else {
            try problem(link, SystemError("resolve").reason)
            return false
        }
        if target.isInside(root) { return true }
        try send(.outside(link))
        return false
    }

    private func problem(_ path: BytePath, _ reason: String) throws { try send(.problem(MusicProblem(path, reason))) }
}

/// A folder with the audio files and the pictures in it.
package struct FolderListing: Sendable {
    /// A file of the folder.
    package struct Entry: Sendable, Hashable {
        package var name: [UInt8]
        package var size: Int64 = 0
        var modified: Int64 = 0
        var changed: Int64 = 0
    }

    package var path: BytePath
    /// In the order of their bytes.
    package var audio: [Entry] = []
    package var pictures: [Entry] = []

    /// Changes when a file is added, removed, renamed or written. It cannot detect a change that leaves the size as it was on a file
    /// system that keeps no time of the change and whose time of modification was set back.
    package var fingerprint: Int64 {
        var hash = FNV1a.hash([])
        for entry in audio + pictures {
            hash = entry.name.withUnsafeBytes { FNV1a.hash($0, after: hash) }
            for number in [0, entry.size, entry.modified, entry.changed] {
                hash = withUnsafeBytes(of: number) { FNV1a.hash($0, after: hash) }
            }
        }
        // 0 stands for a folder that must be read again.
        return hash == 0 ? 1 : Int64(bitPattern: hash)
    }
}

/// A file or a folder that could not be read.
package struct MusicProblem: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    package var path: BytePath
    package var reason: String

    package init(_ path: BytePath, _ reason: String) { (self.path, self.reason) = (path, reason) }

    package var description: String { "\(path): \(reason)" }
}

/// The music that a scan has seen and left out, apart from what could not be read.
package struct LeftOut: Sendable, Hashable {
    package enum Reason: Sendable {
        /// A folder whose name begins with a point.
        case hidden
        /// A folder that contains one of `MusicNames.markers`.
        case excluded
        /// A file of a format whose tags are not read.
        case format
        /// A folder whose audio files are images of discs, with a CUE sheet each.
        case image
    }

    package private(set) var hidden: [BytePath] = []
    package private(set) var excluded: [BytePath] = []
    /// The number of files by their extensions in capitals.
    package private(set) var formats: [String: Int] = [:]
    private var images: Set<BytePath> = []
    /// Audio files without an album in their tags, without those in `untaggedImages`.
    package private(set) var untagged = 0
    package private(set) var untaggedImages = 0

    mutating func add(_ reason: Reason, _ path: BytePath) {
        switch reason {
        case .hidden: hidden.append(path)
        case .excluded: excluded.append(path)
        case .format: formats[(MusicNames.fileExtension(path.name) ?? "").uppercased(), default: 0] += 1
        case .image: images.insert(path)
        }
    }

    /// Counts the audio files of a folder that have no album in their tags.
    mutating func addUntagged(_ count: Int, in folder: BytePath) {
        if images.contains(folder) { untaggedImages += count } else { untagged += count }
    }
}
