package import AlbumLibrary
package import CoverSources

/// What is remembered of an album of the library: what the last scan has found of it, and who gave it its address.
package struct AlbumRecord: Sendable, Hashable {
    /// The album's id in the library.
    package var id: String
    /// Whether a scan has added it, rather than a person or a list.
    package var isAdded = false
    /// Whether the album may not be in the library yet: the process ended before the library was written.
    package var isPending = false
    /// Whether a scan has found none of its places. They stay known, as it may come back, and another album may have them by now.
    package var isGone = false
    /// As the tags have it. A field of the library's album that differs was edited by a person.
    package var facts = AlbumQuery(artist: "", title: "")
    /// As the tags have it.
    package var genre = ""
    package var places: [AlbumPlace] = []

    package init(id: String) { self.id = id }

    init(id: String, _ scanned: ScannedAlbum) {
        (self.id, facts, genre, places) = (id, scanned.facts, scanned.genre, scanned.places)
    }

    /// The album of the library with what a scan has found, except for the fields that a person has edited.
    /// - Parameter former: What the scan before has found; nil if there was none: fields that have a value are a person's.
    func updated(_ album: Album, since former: AlbumRecord?) -> Album {
        var album = album
        let (before, now) = (former.map(Fields.init) ?? Fields(), Fields(self))
        func update(_ field: WritableKeyPath<Album, String>, _ name: KeyPath<Fields, String>) {
            if album[keyPath: field] == before[keyPath: name] { album[keyPath: field] = now[keyPath: name] }
        }
        update(\.title, \.title)
        update(\.artist, \.artist)
        update(\.year, \.year)
        update(\.genre, \.genre)
        if album.musicBrainzReleaseID == before.releaseID { album.musicBrainzReleaseID = now.releaseID }
        if album.musicBrainzReleaseGroupID == before.releaseGroupID {
            album.musicBrainzReleaseGroupID = now.releaseGroupID
        }
        return album
    }

    /// Whether a scan has added an album, and nothing of it was edited since.
    /// - Parameter filled: What fills have given it.
    func isUnedited(_ album: Album, _ filled: FilledAddress?) -> Bool {
        guard isAdded, album.coverURL == nil || filled?.isAddress(of: album) == true else { return false }
        var expected = updated(Album(id: album.id, coverURL: album.coverURL), since: nil)
        expected.coverFile = album.coverFile
        if Set(expected.otherFields) == Set(album.otherFields) { expected.otherFields = album.otherFields }
        return expected == album
    }

    /// What the library keeps of the facts, as it spells them.
    private struct Fields {
        var title = "", artist = "", year = "", genre = ""
        var releaseID, releaseGroupID: String?

        init() {}

        init(_ record: AlbumRecord) {
            (title, artist, genre) = (record.facts.title, record.facts.artist, record.genre)
            year = record.facts.year.map { String($0) } ?? ""
            (releaseID, releaseGroupID) = (record.facts.releaseID, record.facts.releaseGroupID)
        }
    }
}

/// The address that a fill gave an album of the library; another one is a person's or a list's.
package struct FilledAddress: Sendable, Hashable {
    /// Of the picture that was written last.
    package var url: String
    /// The album's facts when that picture was judged.
    package var facts: AlbumQuery
    /// Of the one before it, as long as the library may have that.
    var former: String?

    package init(url: String, facts: AlbumQuery) { (self.url, self.facts) = (url, facts) }

    /// Whether an album of the library has its address from a fill.
    package func isAddress(of album: Album) -> Bool {
        album.coverURL == url || former != nil && album.coverURL == former
    }
}
