package import AlbumLibrary
package import CoverSources
import Platform

/// What a fill has to do, by what a scan found. A value: nothing here reads or writes a folder.
package struct FillPlan: Sendable {
    /// Why an album gets no cover file.
    package enum Obstacle: Sendable, Hashable {
        /// The folder contains tracks of other albums: one cover file would be that of all.
        case shared
        /// The folder's file system is mounted read-only.
        case readOnly
        /// The folder is not there.
        case away
        /// The cover that a fill wrote there is gone, with most others.
        case vanished
        /// A file cannot be created in the folder.
        case unwritable(reason: String)
        /// The file with the name of a cover is no image that is known.
        case noImage(BytePath)

        /// For a person.
        package var reason: String {
            switch self {
            case .shared: "the folder has other albums, too, whose cover it would be"
            case .readOnly: "its file system is read-only"
            case .away: MusicState.awayReason
            case .vanished:
                "the cover that a fill wrote is gone, with most others: `sleeve fill --removed`, or `sleeve fill allow --all`"
            case .unwritable(let reason): "no file can be written: \(reason)"
            case .noImage(let file): "\(BytePath(bytes: file.name)) is no image, or cannot be read; remove or rename it"
            }
        }

        /// Why no file can be created in a folder; nil if one can.
        package static func ofWriting(into folder: BytePath) -> Obstacle? {
            if folder.withCString({ access($0, W_OK | X_OK) }) == 0 { return nil }
            switch errno {
            case EROFS: return .readOnly
            case ENOENT, ENOTDIR: return .away
            default: return .unwritable(reason: SystemError("write").reason)
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
    ///   - library: All albums of the library: one whose name another one has, too, needs more evidence.
    ///   - written: The files of earlier fills that are there.
    ///   - unaccepted: The numbers of those that an accepted cover is to replace.
    ///   - outdated: Those that are to be judged again, by their numbers.
    ///   - filled: What earlier fills gave to albums of the library, by their ids.
    ///   - obstacle: Why no file can be created in a folder; nil if one can.
    package init(
        _ albums: [(scanned: ScannedAlbum, album: Album?)], of library: [Album] = [], written: [Written],
        unaccepted: Set<Int64> = [], outdated: [Int64: OutdatedCover] = [:],
        filled: [Album.ID: FilledAddress] = [:], options: FillOptions,
        obstacle: (BytePath) -> Obstacle?
    ) {
        let written = Dictionary(grouping: written, by: \.folder)
        let replaced = unaccepted.union(outdated.keys)
        for (scanned, album) in albums {
            guard let album else { continue }
            var (job, isCovered) = (FillJob(scanned, album, filled: filled[album.id]), true)
            for place in scanned.places {
                let formers = place.isShared ? [:] : options.formers(written, replaced, in: place, of: album)
                let judged = formers.compactMapValues { $0.album == album.id ? outdated[$0.number] : .ofAnotherAlbum }
                let folders = options.folders(of: place, formers)
                if let cover = place.cover {
                    if cover.mediaType == nil {
                        isCovered = false
                        obstacles.append((cover.path.parent ?? cover.path, album, .noImage(cover.path)))
                        continue
                    }
                    if formers.isEmpty || cover.path.parent.map(folders.contains) != true {
                        present.append((cover.path, album))
                    }
                    if formers.isEmpty { continue }
                    if judged.values.contains(where: \.isOther) { isCovered = false }
                } else {
                    isCovered = false
                }
                if place.isShared, options.embeds {
                    // An accepted cover replaces Sleeve's own.
                    if place.embeddedTracks < place.tracks || options.writesAcceptedOnly {
                        job.tagFolders += place.folders
                    }
                    continue
                }
                for folder in folders {
                    if place.isShared {
                        obstacles.append((folder, album, .shared))
                        continue
                    }
                    if let problem = obstacle(folder) {
                        obstacles.append((folder, album, problem))
                    } else {
                        job.targets.append(
                            .init(
                                folder: folder, audioFolders: place.folders, former: formers[folder],
                                outdated: judged[folder]))
                    }
                }
            }
            if isCovered { covered += 1 }
            if !job.folders.isEmpty { jobs.append(job) }
        }
        leaveOutRepeatedPictures(of: albums.map(\.scanned))
        if jobs.isEmpty { return }
        let namesakes = Namesakes(library)
        for index in jobs.indices { namesakes.mark(&jobs[index].query) }
    }

    /// Folders, or file systems that are read-only, with the albums that get no cover file there.
    package struct Blocked: Sendable {
        package var place: BytePath
        package var reason: String
        package var albums: [Album]
    }

    /// The obstacles by folder, in the order of their paths.
    package var blocked: [Blocked] {
        let reasons = Dictionary(grouping: obstacles, by: \.obstacle.reason)
        return reasons.flatMap { reason, obstacles in
            Dictionary(grouping: obstacles) { $0.obstacle == .readOnly ? $0.folder.highestReadOnly : $0.folder }
                .map { Blocked(place: $0, reason: reason, albums: $1.map(\.album)) }
        }.sorted { ($0.place, $0.reason) < ($1.place, $1.reason) }
    }

    /// A picture in the tags of unrelated albums is a shop's or a program's, and no cover.
    private mutating func leaveOutRepeatedPictures(of albums: [ScannedAlbum]) {
        let wanted = Set(jobs.lazy.compactMap(\.embedded?.digest))
        if wanted.isEmpty { return }
        var pictures = RepeatedPictures()
        for album in albums {
            if let picture = album.sharedPicture?.digest, wanted.contains(picture) {
                pictures.add(picture, nil, of: album.facts)
            }
        }
        for index in jobs.indices where (jobs[index].embedded?.digest).map(pictures.isRepeated) == true {
            jobs[index].embedded = nil
        }
    }
}

extension FillOptions {
    /// The files of fills that a cover for an album may replace, by their folders. Discs without a common folder have one each, of which
    /// the place's cover is the first.
    fileprivate func formers(
        _ written: [BytePath: [Written]], _ replaced: Set<Int64>, in place: AlbumPlace, of album: Album
    ) -> [BytePath: Written] {
        var formers: [BytePath: Written] = [:]
        for folder in place.allFolders {
            let isOfCover = place.cover?.path.parent == folder
            formers[folder] = written[folder]?.last { file in
                (!isOfCover || file.path == place.cover?.path)
                    && (replaces(file, by: album) || replaced.contains(file.number))
            }
        }
        return formers
    }

    /// The folders that get a cover. An accepted one belongs into all of them: the writer names the files of a person that are in its way.
    fileprivate func folders(of place: AlbumPlace, _ formers: [BytePath: Written]) -> [BytePath] {
        if place.cover == nil || writesAcceptedOnly && formers.count < place.coverFolders.count {
            return place.coverFolders
        }
        return formers.keys.sorted()
    }

    /// Whether a cover for an album may replace what a fill has written: always, if that was for another album, which was here before, or if a
    /// person has accepted the new one.
    fileprivate func replaces(_ file: Written, by album: Album) -> Bool {
        file.album != album.id || writesAcceptedOnly
            || upgrades && (minimumPixels.map { min(file.width ?? $0, file.height ?? $0) < $0 } ?? true)
    }
}

extension BytePath {
    /// Of what it leads to; nil if it is not there.
    private var status: stat? {
        var status = stat()
        return withCString { stat($0, &status) } == 0 ? status : nil
    }

    /// The device of the file system that it is on; nil if it is not there.
    var device: UInt64? { status.map { UInt64($0.st_dev) } }

    /// In bytes, as a file; 0 if it is not there.
    var length: Int { status.map { Int($0.st_size) } ?? 0 }

    /// When its contents changed, in nanoseconds since 1970; nil if it is not there.
    var modified: Int64? { status.map { FileStatus($0).modified } }

    /// The highest folder above it that is read-only, too.
    fileprivate var highestReadOnly: BytePath {
        var found = self
        while let parent = found.parent, parent.withCString({ access($0, W_OK) }) != 0, errno == EROFS {
            found = parent
        }
        return found
    }
}

/// An album that lacks a cover file, and where the file goes.
package struct FillJob: Sendable {
    /// A folder that gets a cover file.
    package struct Target: Sendable, Hashable {
        package var folder: BytePath
        /// The folders of the album's audio files, most of which have the owner and the permissions that the cover gets.
        package var audioFolders: [BytePath]
        /// The file of an earlier fill that another cover may replace.
        package var former: Written?
        /// Why that need not be larger.
        package var outdated: OutdatedCover?
    }

    package var album: Album
    /// What sources are asked for.
    package var query: AlbumQuery
    /// After which a cover may be named.
    package var titles: Set<String> = []
    package var targets: [Target] = []
    /// Folders of several albums, in which the cover goes into the tags of the album's songs alone.
    package var tagFolders: [BytePath] = []
    /// What an earlier fill gave the album. It counts only as long as its match is certain.
    package var filled: FilledAddress?
    /// Why sources cannot be asked for its cover; nil if they can.
    package var whyUnsearchable: String?
    /// The picture that all songs have in their tags; nil if some have none, or another one.
    package var embedded: EmbeddedPicture?
    /// The folders of its audio files.
    package var audioFolders: [BytePath] = []

    /// The folders that lack the cover.
    package var folders: [BytePath] { targets.map(\.folder) + tagFolders }
    /// The album's covers of earlier fills, which stay if nothing larger is found.
    package var kept: [Written] { targets.compactMap(\.former).filter { $0.album == album.id } }

    init(_ scanned: ScannedAlbum, _ album: Album, filled: FilledAddress?) {
        (self.album, query, titles) = (album, AlbumQuery(scanned.facts, edited: album), scanned.titles)
        if let filled, filled.isAddress(of: album) { self.filled = filled }
        audioFolders = scanned.places.flatMap(\.folders)
        (embedded, whyUnsearchable) = (scanned.sharedPicture, scanned.whyUnsearchable)
    }
}

extension ScannedAlbum {
    /// The picture that all songs have in their tags; nil if some have none, or another one.
    package var sharedPicture: EmbeddedPicture? {
        guard let first = places.first?.embedded, first.mediaType != nil,
            places.allSatisfy({ place in
                place.embedded?.digest == first.digest && place.embeddedTracks >= place.tracks && !place.embeddedDiffers
            })
        else { return nil }
        return first
    }
}
