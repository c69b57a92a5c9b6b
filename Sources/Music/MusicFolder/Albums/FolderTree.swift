import Platform

/// What a scan knows of folders, in the order of their paths.
struct FolderTree {
    let roots: Set<BytePath>
    let paths: [BytePath]
    private let folders: [BytePath: FolderContents]
    private let unread: [BytePath]

    init(_ folders: [BytePath: FolderContents], _ roots: [BytePath], unread: [BytePath]) {
        (self.folders, self.roots) = (folders, Set(roots))
        paths = folders.keys.sorted()
        self.unread = unread.sorted()
    }

    subscript(_ folder: BytePath) -> FolderContents { folders[folder] ?? FolderContents() }

    /// Whether a folder below another one has audio files.
    func hasAudio(below folder: BytePath) -> Bool {
        Self.those(of: paths, below: folder).contains { self[$0].files > 0 }
    }

    /// The folders with audio files that are `folder` or below it; nil if it was not scanned, or not all of it was read.
    func audioFolders(in folder: BytePath) -> [BytePath]? {
        guard folder.isInside(any: roots), Self.those(of: unread, below: folder).isEmpty else {
            return nil
        }
        return ([folder] + Self.those(of: paths, below: folder)).filter { self[$0].files > 0 }
    }

    /// Of sorted paths, those below a folder: they follow each other.
    private static func those(of paths: [BytePath], below folder: BytePath) -> ArraySlice<BytePath> {
        let prefix = folder.appending([])
        var (low, high) = (0, paths.count)
        while low < high {
            let middle = (low + high) / 2
            if paths[middle] < prefix { low = middle + 1 } else { high = middle }
        }
        return paths[low...].prefix { $0.bytes.starts(with: prefix.bytes) }
    }
}

/// How many songs of each folder an album has.
struct FolderOwners {
    private let tree: FolderTree
    private var songs: [BytePath: [Int: Int]] = [:]
    /// How many songs of a folder are of an album.
    private var totals: [BytePath: Int] = [:]

    init(_ tree: FolderTree) { self.tree = tree }

    /// - Parameter album: Its number.
    mutating func add(_ count: Int, of album: Int, in folder: BytePath) {
        songs[folder, default: [:]][album, default: 0] += count
        totals[folder, default: 0] += count
    }

    /// Whether a cover in the folder is the album's: it has three quarters of the songs there that are of an album.
    func owns(_ folder: BytePath, _ album: Int) -> Bool {
        songs[folder]?[album, default: 0] ?? 0 >= (totals[folder, default: 0] * 3 + 3) / 4
    }

    /// Whether a folder and all folders below it were read, and have songs of no other album.
    func ownsAll(in folder: BytePath, _ album: Int) -> Bool {
        guard let folders = tree.audioFolders(in: folder) else { return false }
        return folders.allSatisfy { tree[$0].files == songs[$0]?[album] }
    }
}
