// Where an album's cover may be besides its `coverUrl`. These are among its other fields, under whatever name the list gives
// them, and stay as they were written.
extension Album {
    /// More places of the cover, to be tried in order when the one before has none: `coverUrls` in lists.
    public var coverUrls: [String] {
        get {
            switch value(of: .coverUrls) {
            case .array(let values)?:
                values.compactMap { if case .string(let url) = $0 { url.trimmingBlanks() } else { nil } }
                    .filter { !$0.isEmpty }
            // In one column of a CSV file: no URL has a blank in it.
            case .string(let text)?: text.utf8.split(whereSeparator: Byte.isBlank).map { String(Substring($0)) }
            default: []
            }
        }
        set { set(.coverUrls, newValue.isEmpty ? nil : .array(newValue.map { .string($0) })) }
    }

    /// The release that MusicBrainz knows it as, as written: `musicBrainzReleaseId` in lists, `MUSICBRAINZ_ALBUMID` in tags.
    public var musicBrainzReleaseId: String? {
        get { text(of: .release) }
        set { set(.release, newValue.map { .string($0) }) }
    }

    /// The group of releases that MusicBrainz knows it as, as written: `musicBrainzReleaseGroupId` in lists,
    /// `MUSICBRAINZ_RELEASEGROUPID` in tags.
    public var musicBrainzReleaseGroupId: String? {
        get { text(of: .releaseGroup) }
        set { set(.releaseGroup, newValue.map { .string($0) }) }
    }

    /// A field that says where a cover may be.
    enum SourceField: String, CaseIterable {
        case coverUrls
        case release = "musicBrainzReleaseId"
        case releaseGroup = "musicBrainzReleaseGroupId"

        /// Without regard to case, blanks, `_` and `-`: taggers write `MUSICBRAINZ_ALBUMID` (Vorbis comments) and
        /// `MusicBrainz Album Id` (ID3, MP4), web services `mbid`.
        private static let names: [String: SourceField] = [
            "coverurls": .coverUrls,
            "musicbrainzreleaseid": .release, "musicbrainzalbumid": .release, "releasembid": .release, "mbid": .release,
            "musicbrainzreleasegroupid": .releaseGroup, "releasegroupmbid": .releaseGroup,
        ]

        /// `Cover URL`, `cover_url` and `coverUrl` are one name.
        static func normalise(_ name: String) -> String {
            name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
        }

        init?(name: String) {
            // Most names of most lists are none of these, which their first letter tells.
            guard let first = name.utf8.first, [0x63, 0x6D, 0x72].contains(first | 0x20), name.utf8.count < 40,
                let field = Self.names[Self.normalise(name)]
            else { return nil }
            self = field
        }
    }

    private func value(of field: SourceField) -> JSONValue? {
        if otherFields.isEmpty { return nil }
        return otherFields.first {
            SourceField(name: $0.name) == field && $0.value != .null && $0.value != .string("")
        }?
        .value
    }

    private func text(of field: SourceField) -> String? {
        switch value(of: field) {
        case .string(let text)?: text.trimmingBlanks().isEmpty ? nil : text.trimmingBlanks()
        case .number(let text)?: text
        default: nil
        }
    }

    private mutating func set(_ field: SourceField, _ value: JSONValue?) {
        let place = otherFields.firstIndex { SourceField(name: $0.name) == field }
        switch (place, value) {
        case (let place?, let value?): otherFields[place].value = value
        case (let place?, nil): otherFields.remove(at: place)
        case (nil, let value?): otherFields.append(JSONMember(field.rawValue, value))
        case (nil, nil): break
        }
    }

    /// Its MusicBrainz ids, the release before its group: the covers of a group are those of one of its releases.
    /// - Throws: `AlbumProblem`: one of them is no UUID.
    func musicBrainzIDs() throws(AlbumProblem) -> [MusicBrainzID] {
        if otherFields.isEmpty { return [] }
        var ids: [MusicBrainzID] = []
        for (field, entity) in [(SourceField.release, MusicBrainzID.Entity.release), (.releaseGroup, .releaseGroup)] {
            guard let text = text(of: field) else { continue }
            guard let id = MusicBrainzID(entity, text) else {
                throw AlbumProblem(
                    field: otherFields.first { SourceField(name: $0.name) == field }?.name ?? field.rawValue,
                    message: "'\(text.inMessage)' is not a MusicBrainz id, which is a UUID such as "
                        + "76df3287-6cda-33eb-8e9a-044b5e15ffdd")
            }
            ids.append(id)
        }
        return ids
    }

    /// Where its cover may be, in the order of trying: `coverUrl`, `coverUrls`, the archive's. Ids that are none are left out.
    package func coverPlaces(_ archive: CoverArtArchive) -> [String] {
        var places: [String] = []
        if let coverUrl = coverUrl?.trimmingBlanks(), !coverUrl.isEmpty { places.append(coverUrl) }
        if otherFields.isEmpty { return places }
        for place in coverUrls + ((try? musicBrainzIDs()) ?? []).map(archive.cover) where !places.contains(place) {
            places.append(place)
        }
        return places
    }

    /// Whether it has a valid MusicBrainz id.
    package var hasMusicBrainzID: Bool { (try? musicBrainzIDs())?.isEmpty == false }

    /// Whether anything says where its cover may be. - Throws: `AlbumProblem`: only an id that is none does.
    func hasCoverPlace() throws(AlbumProblem) -> Bool {
        if coverUrl?.trimmingBlanks().isEmpty == false || !coverUrls.isEmpty { return true }
        return try !musicBrainzIDs().isEmpty
    }
}
