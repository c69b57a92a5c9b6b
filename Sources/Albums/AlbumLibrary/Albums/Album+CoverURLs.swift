import Platform

// The cover locations of an album other than `coverURL`. They are among its other fields, under the name that the list gives
// them, and keep the form they were written in.
extension Album {
    /// More URLs of the cover, tried in order after `coverURL`. They are `coverUrls` in lists.
    public var alternateCoverURLs: [String] {
        get {
            guard let member = member(.alternates) else { return [] }
            if let urls = member.strings { return urls.map { $0.trimmingWhitespace() }.filter { !$0.isEmpty } }
            guard member.json.utf8.first == Byte.quote, let text = member.text else { return [] }
            // A column of a CSV file. No URL contains whitespace.
            return text.utf8.split(whereSeparator: Byte.isWhitespace).map { String(Substring($0)) }
        }
        set {
            set(.alternates, newValue.isEmpty ? nil : "[" + newValue.map(\.json).joined(separator: ", ") + "]")
        }
    }

    /// The album's MusicBrainz release id, as written: `musicBrainzReleaseId` in lists, `MUSICBRAINZ_ALBUMID` in tags.
    public var musicBrainzReleaseID: String? {
        get { text(of: .release) }
        set { set(.release, newValue?.json) }
    }

    /// The album's MusicBrainz release-group id, as written: `musicBrainzReleaseGroupId` in lists,
    /// `MUSICBRAINZ_RELEASEGROUPID` in tags.
    public var musicBrainzReleaseGroupID: String? {
        get { text(of: .releaseGroup) }
        set { set(.releaseGroup, newValue?.json) }
    }

    /// The path of the cover file that a person has beside the album's music: `coverFile` in the library file. Only a scan writes it; a list
    /// that is read, and an album that is decoded, never has one. Bytes that are no UTF-8, and `%`, are percent-encoded.
    public package(set) var coverFile: String? {
        get { text(of: .file) }
        set {
            // A list may name it twice.
            if hasCoverFileField { otherFields.removeAll { CoverField(name: $0.name) == .file } }
            set(.file, newValue?.json)
        }
    }

    private var hasCoverFileField: Bool { otherFields.contains { CoverField(name: $0.name) == .file } }

    /// The album as a list may have it, which names no file of this computer.
    package var withoutCoverFile: Album {
        guard hasCoverFileField else { return self }
        var album = self
        album.coverFile = nil
        return album
    }

    /// The bytes of `coverFile`.
    package var coverFilePath: [UInt8]? {
        get { coverFile.map { PercentEncoding.decoded($0.utf8) } }
        set { coverFile = newValue.map(Self.text(ofPath:)) }
    }

    private static func text(ofPath path: [UInt8]) -> String {
        let isText = String(validating: path, as: UTF8.self) != nil
        let bytes = path.flatMap { byte in
            byte == UInt8(ascii: "%") || byte >= 0x80 && !isText ? PercentEncoding.encoded(byte) : [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A field that locates a cover.
    enum CoverField: String {
        case alternates = "coverUrls"
        case release = "musicBrainzReleaseId"
        case releaseGroup = "musicBrainzReleaseGroupId"
        case file = "coverFile"

        /// Taggers write `MUSICBRAINZ_ALBUMID` (Vorbis comments) and `MusicBrainz Album Id` (ID3, MP4), beets `mb_albumid`, web
        /// services `mbid`.
        private static let names: [String: CoverField] = [
            "coverurls": .alternates, "coverfile": .file,
            "musicbrainzreleaseid": .release, "musicbrainzalbumid": .release, "releasembid": .release, "mbid": .release,
            "mbalbumid": .release, "mbreleaseid": .release, "albummbid": .release, "caareleasembid": .release,
            "musicbrainzreleasegroupid": .releaseGroup, "releasegroupmbid": .releaseGroup,
            "mbreleasegroupid": .releaseGroup,
        ]

        /// Ignores case and everything but letters and digits.
        init?(name: String) {
            // The first letter rules out most names of most lists.
            guard let first = name.utf8.first, [0x61, 0x63, 0x6D, 0x72].contains(first | 0x20), name.utf8.count < 40,
                let field = Self.names[Self.normalize(name)]
            else { return nil }
            self = field
        }

        /// Makes `Cover URL`, `cover_url` and `coverUrl` equal, and `Artist Name(s)` and `artistNames`.
        static func normalize(_ name: String) -> String {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(name.utf8.count)
            for byte in name.utf8 {
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
                case UInt8(ascii: "a")...UInt8(ascii: "z"), Byte.zero...UInt8(ascii: "9"), 0x80...: bytes.append(byte)
                default: break
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func member(_ field: CoverField) -> JSONMember? {
        otherFields.first { !$0.isEmpty && CoverField(name: $0.name) == field }
    }

    private func text(of field: CoverField) -> String? {
        guard let text = member(field)?.text?.trimmingWhitespace(), !text.isEmpty else { return nil }
        return text
    }

    private mutating func set(_ field: CoverField, _ json: String?) {
        let index = otherFields.firstIndex { CoverField(name: $0.name) == field }
        otherFields.set(json, at: index, name: field.rawValue)
    }

    /// Adds a MusicBrainz id, if it is one and the album has none of its kind.
    mutating func addMusicBrainzID(_ text: String, _ entity: MusicBrainzID.Entity) {
        guard let id = MusicBrainzID(entity, text) else { return }
        let field = entity == .release ? CoverField.release : .releaseGroup
        if member(field) == nil { otherFields.append(JSONMember(field.rawValue, id.uuid)) }
    }

    /// The album's MusicBrainz ids. The release comes before its group, whose cover is that of one of its releases.
    /// - Throws: `AlbumProblem` if one of them is not a UUID.
    func musicBrainzIDs() throws(AlbumProblem) -> [MusicBrainzID] {
        if otherFields.isEmpty { return [] }
        var ids: [MusicBrainzID] = []
        for (field, entity) in [(CoverField.release, MusicBrainzID.Entity.release), (.releaseGroup, .releaseGroup)] {
            guard let text = text(of: field) else { continue }
            guard let id = MusicBrainzID(entity, text) else {
                throw AlbumProblem(
                    field: otherFields.first { CoverField(name: $0.name) == field }?.name ?? field.rawValue,
                    message: "'\(text.inMessage)' is not a MusicBrainz id, which is a UUID such as "
                        + "76df3287-6cda-33eb-8e9a-044b5e15ffdd")
            }
            ids.append(id)
        }
        return ids
    }

    /// Whether the album has a valid MusicBrainz id.
    package var hasMusicBrainzID: Bool { (try? musicBrainzIDs())?.isEmpty == false }

    /// All URLs of the cover in the order of trying: `coverURL`, the alternates, the archive's. Invalid ids are left out.
    package func coverURLs(in archive: CoverArtArchive) -> [String] {
        var urls: [String] = []
        if let coverURL = coverURL?.trimmingWhitespace(), !coverURL.isEmpty { urls.append(coverURL) }
        if otherFields.isEmpty { return urls }
        for url in alternateCoverURLs + ((try? musicBrainzIDs()) ?? []).flatMap(archive.frontCovers)
        where !urls.contains(url) {
            urls.append(url)
        }
        return urls
    }

    /// Whether a URL or an id locates the cover.
    /// - Throws: `AlbumProblem` if only an invalid id does.
    func hasCoverLocation() throws(AlbumProblem) -> Bool {
        if coverURL?.trimmingWhitespace().isEmpty == false || !alternateCoverURLs.isEmpty { return true }
        return try !musicBrainzIDs().isEmpty
    }
}
