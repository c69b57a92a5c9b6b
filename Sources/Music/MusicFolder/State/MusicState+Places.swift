import CoverSources
import Files
import Platform
import SQLite

/// Where written files are. A music folder may be at another path by now: moved, mounted elsewhere, or seen by a container. What stays is the
/// path below the scanned folder, and the digest of what is there.
extension MusicState {
    /// The scanned folder that contains a folder; nil if there is none.
    func root(of folder: BytePath) throws(Problem) -> BytePath? { try roots().last { folder.isInside($0) } }

    /// The scanned folders that contain places of albums; all, if none does.
    package func roots(of albums: [String]) throws(Problem) -> [BytePath] {
        let (all, ids) = (try roots(), Set(albums))
        let folders = try self.albums().filter { ids.contains($0.id) }.flatMap { $0.places.flatMap(\.folders) }
        let found = all.filter { root in folders.contains { $0.isInside(root) } }
        return found.isEmpty ? all : found
    }

    /// The paths that a folder below a root has below other scanned folders. One inside the root, or around it, is no other path of it: what is
    /// below both is a copy.
    static func otherPlaces(of folder: BytePath, below root: BytePath?, among roots: [BytePath]) -> [BytePath] {
        guard let root, folder.isInside(root) else { return [] }
        return roots.filter { !$0.isInside(root) && !root.isInside($0) }.map { folder.moved(from: root, to: $0) }
    }

    /// The rows follow the folders of a scan: a file that is found below one of them, at the same path, is remembered there, unless it has a row of
    /// its own.
    func findRows(below roots: [BytePath]) throws(Problem) {
        let rows = try written(.file) + written(.tags)
        var known = Set(rows.map(\.path))
        for row in rows {
            let folders = Self.otherPlaces(of: row.folder, below: row.root, among: roots)
            let place = folders.first { folder in
                let path = folder.appending(row.name)
                return !known.contains(path) && isSame(path, as: row)
            }
            if let place { known.insert(try move(row, to: place).path) }
        }
    }

    /// Whether there is a file that is the row's, or takes its place. Tags may have been edited since.
    private func isSame(_ path: BytePath, as row: Written) -> Bool {
        var (status, old) = (stat(), stat())
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        if row.path.withCString({ lstat($0, &old) }) != 0 { return row.kind == .tags || digest(at: path) == row.digest }
        return old.st_dev == status.st_dev && old.st_ino == status.st_ino
    }

    /// Remembers a row at another path.
    @discardableResult
    func move(_ row: Written, to folder: BytePath, name: [UInt8]? = nil) throws(Problem) -> Written {
        var moved = row
        (moved.folder, moved.root, moved.name) = (folder, try root(of: folder), name ?? row.name)
        try save(moved)
        return moved
    }

    /// The rows follow albums whose folders or songs were renamed since the last scan, and what a person has removed is noted.
    /// - Parameters:
    ///   - albums: What the scan has found, by the ids of the albums.
    ///   - contents: What it has read: a song without the picture that a fill wrote has lost it to a person.
    ///   - countsAllRemoved: Whether a person has said that covers which are gone were removed, however many they are.
    /// - Returns: Whether a row was moved, and the covers that are gone with most others of their scanned folder: that is no removal of a person.
    func follow(
        _ albums: [String: ScannedAlbum], in contents: [BytePath: FolderContents] = [:], countsAllRemoved: Bool = false
    ) throws(Problem) -> (hasMoved: Bool, vanished: [Written]) {
        var (hasMoved, missing, counts): (Bool, [Written], [BytePath?: (rows: Int, gone: Int)]) = (false, [], [:])
        var (removed, pictures): ([Written], SongPictures) = ([], SongPictures(contents: contents))
        // As the last scan left them. Where all is in its place, nothing asks for them.
        lazy var records = Result { () throws(Problem) in
            Dictionary(try self.albums().map { ($0.id, $0) }) { first, _ in first }
        }
        lazy var covers = Dictionary(
            grouping: albums.values.flatMap(\.places).flatMap(\.covers).map(\.path), by: \.length)
        for row in try begun() where row.isThere {
            if let picture = pictures.digest(in: row) { try settle(row, picture: picture) }
        }
        let rows = try written(.file) + written(.tags)
        lazy var files = Set(rows.lazy.filter { $0.kind == .file && $0.isInPlace }.map(\.path))
        for row in rows {
            if row.kind == .file { counts[row.root, default: (0, 0)].rows += 1 }
            switch (row.kind, row.isThere) {
            case (.file, true) where row.isUnchanged:
                // A person has put it back.
                if row.state == .removed, !files.contains(row.path) { try set(row, .there) }
                continue
            case (.file, true):
                guard row.state == .there, let folders = albums[row.album]?.folders, !folders.isEmpty else { continue }
                if folders.contains(row.folder) {
                    removed.append(row)
                    continue
                }
            // Else its folder has another name by now, which another one has taken.
            case (.tags, true):
                guard row.state == .there, let picture = pictures.digest(in: row) else { continue }
                if picture != row.digest { removed.append(row) }
                continue
            case (_, false): break
            }
            let folders = albums[row.album]?.folders ?? []
            var found = row.state == .removed ? nil : try copies(of: row, in: folders).first
            // Its folder may have another album and another path, its album may be a part of another one by now.
            if found == nil, row.state != .removed, row.kind == .file, let length = row.length,
                folders.isEmpty || row.folder.device == nil
            {
                let same = try copies(of: row, in: covers[length, default: []].compactMap(\.parent))
                found = same.count == 1 ? same[0] : nil
            }
            if let found {
                try move(row, to: found.folder, name: found.name)
                hasMoved = true
                continue
            }
            let isGone = row.kind == .file && row.state != .removed
            if isGone, row.folder.device != nil { counts[row.root]?.gone += 1 }
            guard let album = albums[row.album] else { continue }
            let former = try records.get()[row.album]
            if let folder = album.folder(of: row, since: former) {
                let row = try move(row, to: folder)
                if isGone { missing.append(row) }
            } else if isGone, folders.contains(row.folder) {
                // Songs that were ripped again have no cover that was removed.
                if album.hasSongs(of: row.folder, in: former) { missing.append(row) } else { try set(row, .allowed) }
            }
        }
        // What an undo took back is not written again where its folder is now, by a fill that nobody watches.
        for row in try undone() {
            guard let album = albums[row.album] else { continue }
            if let folder = album.folder(of: row, since: try records.get()[row.album]) { try move(row, to: folder) }
            // The later word counts.
            if countsAllRemoved, row.kind == .file, row.state == .allowed, album.folders.contains(row.folder),
                !row.isThere
            {
                try setRemoved(row)
            }
        }
        for row in try begun() where !row.isThere {
            guard let album = albums[row.album], try !isAway(row.folder, disk: row.disk) else { continue }
            let found = try copies(of: row, in: album.folders).first
            hasMoved = hasMoved || found != nil
            try settle(found.map { place throws(Problem) in try move(row, to: place.folder, name: place.name) } ?? row)
        }
        let isVanished = { (row: Written) in
            guard !countsAllRemoved, let (rows, gone) = counts[row.root] else { return false }
            return gone >= Self.vanishedCovers && gone * 2 > rows
        }
        for row in removed + missing.filter({ !isVanished($0) }) { try setRemoved(row) }
        return (hasMoved, missing.filter(isVanished))
    }

    /// A person removes some covers; a restore, or a copy without them, loses most of a scanned folder's, and at least so many.
    private static let vanishedCovers = 10

    /// The files of folders that have the bytes that a row wrote, and no row of their own.
    func copies(of row: Written, in folders: [BytePath]) throws(Problem) -> [(folder: BytePath, name: [UInt8])] {
        var found: [(folder: BytePath, name: [UInt8])] = []
        for folder in Set(folders).sorted() {
            guard let open = try? OpenFolder(path: folder.bytes), let names = try? open.names() else { continue }
            var known: Set<[UInt8]>?
            for name in names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
                guard row.mayBe(name.bytes), let status = try? open.status(of: name), row.mayBe(status),
                    digest(at: folder.appending(name.bytes)) == row.fileDigest
                else { continue }
                if known == nil {
                    let rows = try history(of: folder).filter { $0.isInPlace && ($0.kind == .tags || $0.isUnchanged) }
                    known = Set(rows.map(\.name))
                }
                if known?.contains(name.bytes) == false { found.append((folder, name.bytes)) }
            }
        }
        return found
    }

    /// Of what a killed process had begun, the bytes at the place tell whether it was done. What is away stays begun, and what may have another
    /// path by now until a scan has found its album.
    /// - Parameter picture: Reads the digest of the picture in a song; nil if no tags can be read now.
    func settleBegun(picture: ((Written) throws -> Digest??)? = nil) throws {
        for row in try begun() where row.folder.device != nil {
            if !row.isThere, try isAway(row.folder, disk: row.disk) { continue }
            try settle(row, picture: picture?(row) ?? nil)
            (try? OpenFolder(path: row.folder.bytes))?.sweep()
        }
    }

    /// The last fill whose process ended while it wrote its first file, which has not got its name, or was put back; nil if there is none.
    func interruptedFill() throws(Problem) -> Int64? {
        let last = try runs().first ?? 0
        let begun = try begun().filter { $0.state == .begun && $0.run > last && $0.folder.device != nil }
        return begun.contains { digest(at: $0.path) == $0.fileDigest } ? nil : begun.last?.run
    }

    /// - Parameter picture: The digest of the picture in the row's song; nil if that was not read. Then a song with other bytes, whose tags may have
    ///   been edited since, tells nothing yet.
    private func settle(_ row: Written, picture: Digest?? = nil) throws(Problem) {
        let former = try row.replaced.flatMap { number throws(Problem) in try written(number: number) }
        let file = digest(at: row.path)
        func holds(_ other: Written) -> Bool {
            // A song is read once.
            let isSame = row.kind == .tags || other.name == row.name
            let found = isSame ? file : digest(at: row.folder.appending(other.name))
            return found == other.fileDigest || row.kind == .tags && picture == other.digest
        }
        let isWritten = holds(row)
        let isFormer = !isWritten && former.map { holds($0) } ?? false
        let isUnknown = row.kind == .tags && picture == nil && !isWritten && !isFormer && row.isThere
        if row.state == .leaving {
            if isWritten {
                try set(row, .there)
            } else if isFormer, var former {
                // What it had replaced is back.
                (former.folder, former.root, former.disk) = (row.folder, row.root, row.disk)
                try set(former, .there)
                try set(row, .undone)
            } else if !isUnknown {
                try setUndone(row)
            }
            return
        }
        if !isWritten {
            // One that was to come back waits for the row that has replaced it.
            if try newer(than: row) != nil { try set(row, .there) } else if !isUnknown { try forget(row) }
            return
        }
        try set(row, .there)
        // The file of another type that it replaces.
        if row.kind == .file, let former, former.path != row.path {
            try? remove(former, in: OpenFolder(path: row.folder.bytes))
        }
    }

    private func digest(at path: BytePath) -> Digest? {
        guard let parent = path.parent, let name = FileName(path.name), let folder = try? OpenFolder(path: parent.bytes)
        else { return nil }
        return (try? OwnFile(name, in: folder, journal).digest()) ?? nil
    }

    // MARK: Disks

    /// Whether a missing folder is on a disk that is not mounted.
    /// - Parameter disk: The file system on which the folder was; nil if it is not known.
    func isAway(_ folder: BytePath, disk: String? = nil) throws(Problem) -> Bool {
        if let disk, !disk.isEmpty, let found = folder.nearestFolder, found.disk != disk { return true }
        return try folder.isInside(any: away())
    }
}

/// The pictures that a scan has found in the songs of rows.
private struct SongPictures {
    let contents: [BytePath: FolderContents]
    private var folders: [BytePath: [UInt32: Digest?]] = [:]

    init(contents: [BytePath: FolderContents]) { self.contents = contents }

    /// The digest of the picture in a row's song; nil if the song was not read.
    mutating func digest(in row: Written) -> Digest?? {
        guard row.kind == .tags, let folder = contents[row.folder] else { return .none }
        let pictures = folders[row.folder] ?? folder.picturesByName
        folders[row.folder] = pictures
        return pictures[Song.hash(of: row.name)]
    }
}

extension Written {
    /// Whether its file is in its place as far as is known.
    package var isInPlace: Bool { [.begun, .there, .leaving].contains(state) }

    /// Whether a file may be its file, by the name.
    func mayBe(_ name: [UInt8]) -> Bool {
        kind == .tags ? MusicNames.isAudio(name) : MusicNames.isPicture(name)
    }

    fileprivate func mayBe(_ status: stat) -> Bool { length.map { Int(status.st_size) == $0 } ?? true }
}

extension ScannedAlbum {
    fileprivate var folders: [BytePath] { places.flatMap(\.allFolders) }

    /// The folder that the songs of a row's folder have now, by their names and lengths: those of another rip are other songs.
    /// What a person has removed stays so in the album's only folder, too.
    fileprivate func folder(of row: Written, since former: AlbumRecord?) -> BytePath? {
        let known = former?.places ?? []
        if folders.contains(row.folder) { return nil }
        let place = known.first { $0.allFolders.contains(row.folder) }
        // A scan of another folder says nothing of songs that are where they were.
        if place?.hasItsSongs == true { return nil }
        if let place, let index = (place.coverFolders + place.folders).firstIndex(of: row.folder) {
            let moved = places.filter { other in
                other.namesDigest == place.namesDigest && other.lengthsDigest == place.lengthsDigest
                    && !known.contains { $0.folders == other.folders }
                    && other.folders.count == place.folders.count
                    && other.coverFolders.count == place.coverFolders.count
            }
            if moved.count == 1 { return (moved[0].coverFolders + moved[0].folders)[index] }
        }
        let covers = places.flatMap(\.coverFolders)
        return row.kind == .file && row.state == .removed && covers.count == 1 ? covers[0] : nil
    }

    /// Whether the songs that were beside a cover when the folder was last scanned are there, whatever their names.
    fileprivate func hasSongs(of folder: BytePath, in former: AlbumRecord?) -> Bool {
        let isPlace = { (place: AlbumPlace) in place.allFolders.contains(folder) }
        guard let former else { return true }
        guard let place = former.places.first(where: isPlace) else { return false }
        if places.first(where: isPlace)?.lengthsDigest == place.lengthsDigest { return true }
        return !former.facts.lengths.isEmpty && Set(former.facts.lengths).isSubset(of: facts.lengths)
    }
}

extension AlbumPlace {
    /// Whether the audio files that a scan has found are in its folders now.
    package var hasItsSongs: Bool { namesDigest == Self.namesDigest(folders) }

    /// As the sum of `Song.hash(of:)` that a scan remembers.
    static func namesDigest(_ folders: [BytePath]) -> UInt64 {
        let names = folders.flatMap { (try? OpenFolder(path: $0.bytes).names()) ?? [] }.map(\.bytes)
        return names.filter(MusicNames.isAudio).reduce(0) { $0 &+ UInt64(Song.hash(of: $1)) }
    }
}

extension BytePath {
    /// The same path below another folder.
    func moved(from root: BytePath, to other: BytePath) -> BytePath {
        let rest = bytes.dropFirst(root.bytes.count).drop { $0 == UInt8(ascii: "/") }
        return rest.isEmpty ? other : other.appending(Array(rest))
    }

    /// The folder, or the nearest one above it that exists.
    fileprivate var nearestFolder: OpenFolder? {
        var path: BytePath? = self
        while let folder = path {
            if let open = try? OpenFolder(path: folder.bytes) { return open }
            path = folder.parent
        }
        return nil
    }
}
