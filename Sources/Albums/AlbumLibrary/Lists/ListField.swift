/// A field of an album under the names that other programs give it. A name that the library file uses always wins over these.
struct ListField: Hashable {
    enum Kind: Hashable, CaseIterable {
        case title, artist, genre, year, cover
    }

    var kind: Kind
    /// Of several names in one album, the one with the lowest rank is used.
    var rank: Int

    /// - Parameter name: As `Album.CoverField.normalize` returns it.
    init?(_ name: String) {
        if let field = Self.known[name] {
            self = field
        } else if Self.isCover(name) {
            self.init(.cover, Self.suffixRank)
        } else {
            return nil
        }
    }

    private init(_ kind: Kind, _ rank: Int) {
        self.kind = kind
        self.rank = rank
    }

    /// In the order of preference. beets writes `albumartist` and `cover_art_url`, Exportify `Album Image URL`, iTunes
    /// `artworkUrl100`, Deezer `cover_xl`, Discogs `cover_image`.
    private static let names: [Kind: [String]] = [
        .title: [
            "title", "album", "albumtitle", "albumname", "releasetitle", "releasename", "collectionname", "release",
            "name",
        ],
        .artist: [
            "artist", "albumartist", "albumartists", "albumartistname", "albumartistnames", "artistname", "artistnames",
            "artists", "artistcredit", "artistcreditname", "performer", "band",
        ],
        .genre: ["genre", "genres", "albumgenre", "albumgenres", "styles", "style"],
        .year: [
            "year", "originalyear", "releaseyear", "albumyear", "originaldate", "firstreleasedate", "albumreleasedate",
            "releasedate", "released", "date",
        ],
        .cover: [
            "coverurl", "coverarturl", "albumcoverurl", "albumimageurl", "albumarturl", "artworkurl", "frontcoverurl",
            "coverxl", "coverbig", "coverimage", "artworkurl600", "artworkurl100", "albumcover", "albumart", "artwork",
            "coverart", "frontcover", "imageurl", "cover", "images", "image", "imgurl", "img", "pictureurl",
            "picture", "covermedium", "coversmall", "artworkurl60", "thumbnailurl", "thumbnail", "thumburl", "thumb",
            "url", "link",
        ],
    ]
    /// Before thumbnails and `url`, which is the address of the album's page in some lists.
    private static let suffixRank = 17

    private static let known: [String: ListField] = {
        var known: [String: ListField] = [:]
        for (kind, names) in names {
            for (rank, name) in names.enumerated() { known[name] = ListField(kind, rank) }
        }
        return known
    }()

    /// Whether a name such as `Release Cover URL` is that of an album's cover.
    private static func isCover(_ name: String) -> Bool {
        let suffixes = ["imageurl", "coverurl", "arturl", "artworkurl", "pictureurl", "coverimage", "coverart"]
        guard suffixes.contains(where: name.hasSuffix) else { return false }
        return !["artist", "track", "user", "profile", "playlist", "owner", "avatar", "back"].contains(
            where: name.contains)
    }

    /// The year at the beginning of a date; nil if there is none. 0 stands for an unknown year.
    static func year(of date: String) -> String? {
        let digits = date.utf8.prefix { $0 >= Byte.zero && $0 <= UInt8(ascii: "9") }
        guard digits.count == 4, let year = String(digits), year != "0000" else { return nil }
        return year
    }
}

extension String {
    /// Whether the text is an absolute URL rather than a file's name.
    var isURL: Bool { contains("://") }
}
