package import AlbumLibrary

/// What a fill has to do, by what a scan found. A value: nothing here reads or writes a folder.
package struct FillPlan: Sendable {
    /// Why an album gets no cover file.
    package enum Obstacle: Sendable, Hashable {
        /// The folder contains tracks of other albums: one cover file would be that of all.
        case shared
        /// A file cannot be created in the folder.
        case unwritable(reason: String)
        /// The file with the name of a cover is no image that is known.
        case noImage(BytePath)

        /// For a person.
        package var reason: String {
            switch self {
            case .shared: "the folder has other albums, too, whose cover it would be"
            case .unwritable(let reason): "no file can be written: \(reason)"
            case .noImage(let file): "\(BytePath(bytes: file.name)) is no image, or cannot be read; remove or rename it"
            }
        }
    }

    package private(set) var jobs: [FillJob] = []
    /// Albums with a cover file in each of their folders.
    package private(set) var covered = 0
    /// Cover files that stay as they are.
    package private(set) var present: [(file: BytePath, album: Album)] = []
    /// Folders without a cover that get none, each once for every album in it.
    package private(set) var obstacles: [(folder: BytePath, album: Album, obstacle: Obstacle)] = []

    /// - Parameters:
    ///   - albums: The scanned albums, each with its album of the library; nil if the library has none.
    ///   - written: The files of earlier fills.
    ///   - whyUnwritable: Why no file can be created in a folder; nil if one can.
    package init(
        _ albums: [(scanned: ScannedAlbum, album: Album?)], written: [WrittenFile], options: FillOptions,
        whyUnwritable: (BytePath) -> String?
    ) {
        let own = Dictionary(written.map { ($0.path, $0) }) { $1 }
        for (scanned, album) in albums {
            guard let album else { continue }
            var (job, isCovered) = (FillJob(album: album, trackCount: scanned.tracks), true)
            for place in scanned.places {
                var former: WrittenFile?
                if let cover = place.cover {
                    if cover.mediaType == nil {
                        isCovered = false
                        obstacles.append((cover.path.parent ?? cover.path, album, .noImage(cover.path)))
                        continue
                    }
                    guard options.upgrades, !place.isShared, let file = own[cover.path] else {
                        present.append((cover.path, album))
                        continue
                    }
                    former = file
                } else {
                    isCovered = false
                }
                for folder in place.coverFolders {
                    if place.isShared {
                        obstacles.append((folder, album, .shared))
                    } else if let reason = whyUnwritable(folder) {
                        obstacles.append((folder, album, .unwritable(reason: reason)))
                    } else if former == nil || former?.folder == folder {
                        job.targets.append(
                            .init(folder: folder, audioFolder: place.folders.first ?? folder, former: former))
                    }
                }
            }
            if isCovered { covered += 1 }
            if !job.targets.isEmpty { jobs.append(job) }
        }
    }
}
