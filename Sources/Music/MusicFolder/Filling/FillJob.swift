package import AlbumLibrary
package import CoverSources

/// An album that lacks a cover file, and where the file goes.
package struct FillJob: Sendable {
    /// A folder that gets a cover file.
    package struct Target: Sendable, Hashable {
        package var folder: BytePath
        /// The folders of the album's audio files, most of which have the owner and the permissions that the cover gets.
        package var audioFolders: [BytePath]
        /// The file of an earlier fill that another cover may replace.
        package var former: Written?
        /// Why that need not be larger: the album has other facts by now.
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
    /// The cover URLs that a person or a list gave the album, in the order of trying.
    package var ownURLs: [String] = []
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
        let url = album.coverURL.flatMap { $0.isEmpty ? nil : $0 }
        if let filled, filled.isAddress(of: album) { self.filled = filled } else { ownURLs = [url].compactMap(\.self) }
        ownURLs += album.alternateCoverURLs
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
