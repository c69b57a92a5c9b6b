import Files
import Platform

/// Which picture of a folder is an album's cover: a person's before Sleeve's, then the first in the order of `CoverName`. Any other picture is
/// none: booklets, backs and photographs of artists lie there, too.
///
/// It is asked by the scan, by what writes covers and by what embeds them; an audit reads what the scan has chosen.
package struct CoverChoice: Sendable {
    private let titles: Set<String>
    private let isSleeves: @Sendable (BytePath) -> Bool

    /// - Parameters:
    ///   - titles: The album's, as in `ScannedAlbum`.
    ///   - isSleeves: Whether a fill has written a file, which is unchanged since.
    package init(_ titles: Set<String>, isSleeves: @escaping @Sendable (BytePath) -> Bool = { _ in false }) {
        (self.titles, self.isSleeves) = (titles, isSleeves)
    }

    /// The cover among the pictures of a folder; nil if none is.
    package func cover(among pictures: [CoverFile]) -> CoverFile? {
        let covers = pictures.compactMap { picture in
            CoverName(picture.path.name, titles: titles).map { (name: $0, picture: picture) }
        }.sorted { $0.name < $1.name }.map(\.picture)
        return covers.count < 2 ? covers.first : covers.first { !isSleeves($0.path) } ?? covers[0]
    }

    /// The cover in a folder as it is now, whose type is not read. A link is a person's, wherever it leads.
    /// - Throws: `SystemError`.
    func cover(in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        var pictures: [CoverFile] = []
        for name in try folder.names() where CoverName(name.bytes, titles: titles) != nil {
            guard let status = try folder.status(of: name), status.st_size > 0,
                [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
            else { continue }
            pictures.append(CoverFile(path: path.appending(name.bytes)))
        }
        return cover(among: pictures)
    }
}

/// What fills have written into music folders: it says nothing of an album.
package struct SleevesPictures: Sendable {
    /// Whether a fill has written a file, which is unchanged since.
    var isFile: @Sendable (BytePath) -> Bool = { _ in false }
    /// The digests of pictures in tags, by folders and `Song.hash(of:)`.
    var inTags: [BytePath: [UInt32: String]] = [:]

    package init() {}
}
