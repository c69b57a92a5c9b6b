import AlbumLibrary
import CoverLibrary
import Platform
import Synchronization

/// The cover files that people have beside their music, by their digests, as pages name covers. Nothing of them is copied: a file is read when
/// a page wants it. Its digest is computed once for each version of the file.
final class CoverFiles: Sendable {
    /// A version of a file.
    struct Version: Sendable {
        fileprivate var name: String
        /// nil for a file that is no cover.
        fileprivate(set) var digest: String?
        fileprivate(set) var longestSide: Int?
    }

    private struct State {
        var versions: [Album.ID: Version] = [:]
        /// An album whose file had this digest.
        var albums: [String: Album] = [:]
    }

    private let state = Mutex(State())

    /// The versions of the albums' files; nil for albums without one, or whose file is gone.
    func versions(of albums: [Album]) async -> [Album.ID: Version] {
        let albums = albums.filter { $0.coverFile != nil }
        let share = max(1, (albums.count + Self.threads - 1) / Self.threads)
        return await withTaskGroup(of: [(Album.ID, Version?)].self) { group in
            for start in stride(from: 0, to: albums.count, by: share) {
                let part = albums[start..<min(start + share, albums.count)]
                group.addTask { await WorkThread.run { part.map { ($0.id, self.version(of: $0)) } } }
            }
            var found: [Album.ID: Version] = [:]
            for await part in group { for (id, version) in part { found[id] = version } }
            return found
        }
    }

    /// How many read files at a time.
    private static let threads = 4

    /// Which albums have a file, whatever is in it.
    func haveFiles(_ albums: [Album]) async -> [Bool] {
        await WorkThread.run { albums.map { $0.coverFileVersion != nil } }
    }

    private func version(of album: Album) -> Version? {
        guard let name = album.coverFileVersion.map({ "\($0) \(album.coverFile ?? "")" }) else { return nil }
        if let known = state.withLock({ $0.versions[album.id] }), known.name == name { return known }
        var version = Version(name: name)
        if let cover = Cover(fileOf: album) {
            version.digest = cover.digest
            version.longestSide = [cover.width, cover.height].compactMap(\.self).max()
        }
        state.withLock { [version] state in
            if let former = state.versions.updateValue(version, forKey: album.id)?.digest { state.albums[former] = nil }
            if let digest = version.digest { state.albums[digest] = album }
        }
        return version
    }

    /// The cover with this digest, if a file that a page was told of still has it.
    func cover(digest: String) async -> Cover? {
        guard let album = state.withLock({ $0.albums[digest] }) else { return nil }
        let cover = await WorkThread.run { Cover(fileOf: album) }
        return cover?.digest == digest ? cover : nil
    }
}
