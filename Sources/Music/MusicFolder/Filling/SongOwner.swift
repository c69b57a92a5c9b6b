import Files
import Platform

/// To whom a cover beside songs belongs, and who may read it: those who may read most of the songs.
struct SongOwner: Hashable {
    let user: uid_t, group: gid_t, mode: mode_t

    private init(_ song: stat) {
        // A cover is no program, and its owner can always replace it.
        (user, group, mode) = (song.st_uid, song.st_gid, song.st_mode & 0o666 | 0o600)
    }

    /// Of equally many songs those of the first one count; of a link, what it leads to. Nil without any song.
    init?(of folders: [BytePath]) {
        var (owners, counts): ([SongOwner], [SongOwner: Int]) = ([], [:])
        for folder in folders.lazy.compactMap({ try? OpenFolder(path: $0.bytes) }) {
            let names = ((try? folder.names()) ?? []).filter { MusicNames.isAudio($0.bytes) }
            for name in names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
                guard let song = try? folder.status(of: name, followingLinks: true) else { continue }
                let owner = SongOwner(song)
                if counts[owner] == nil { owners.append(owner) }
                counts[owner, default: 0] += 1
            }
        }
        let most = counts.values.max()
        guard let owner = owners.first(where: { counts[$0] == most }) else { return nil }
        self = owner
    }
}
