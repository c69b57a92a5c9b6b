package import AlbumLibrary
package import CoverSources
package import Platform

/// A cover file of a fill, whose album has other facts by now than it was judged for, as tags were corrected; or which a person has refused, or
/// accepts no longer. What is certain takes its place.
package struct OutdatedCover: Sendable, Hashable {
    /// The source that has offered it; nil where none need be asked.
    package var source: SourceName?
    /// Whether it is known not to be certain for today's facts. Otherwise nothing changes until the source was asked.
    package var isOther: Bool
    package var cause: Cause

    package static let ofAnotherAlbum = OutdatedCover(source: nil, isOther: true, cause: .album)

    /// What has changed since the file was written.
    package enum Cause: Sendable, Hashable {
        case tags, album, refused, unaccepted

        /// For a person, behind the file's path.
        package var reason: String {
            switch self {
            case .tags: "it was written for other tags, and is not certain for today's"
            case .album: "it was written for another album, which was here before"
            case .refused: "you have refused it since it was written"
            case .unaccepted: "it was written as you accepted it, which you do no longer, and it is not certain"
            }
        }
    }
}

/// Judges cover files of fills again, by the answers of sources that are kept.
package struct OutdatedCovers: Sendable {
    private let library: [Album]
    /// Few files need it: it folds all names of the library.
    private lazy var namesakes = Namesakes(library)
    private let decisions: [Album.ID: Decisions]
    private let sources: [CoverSource]
    private let memory: SourceMemory?
    private let pictureName: @Sendable (Digest) throws -> PictureName?

    /// - Parameters:
    ///   - library: All albums of the library.
    ///   - sources: All services, at the addresses of their covers.
    ///   - memory: Nil if no source was ever asked.
    ///   - pictureName: By what a picture that a fill wrote is known.
    package init(
        _ library: [Album], _ decisions: [Album.ID: Decisions], _ sources: [CoverSource], _ memory: SourceMemory?,
        pictureName: @escaping @Sendable (Digest) throws -> PictureName?
    ) {
        (self.library, self.decisions, self.sources, self.memory) = (library, decisions, sources, memory)
        self.pictureName = pictureName
    }

    /// - Parameter query: The album today.
    /// - Returns: Nil if the file is certain for today's facts, or if a person has accepted it.
    package mutating func judge(_ file: Written, for query: AlbumQuery) async throws -> OutdatedCover? {
        let decisions = decisions[file.album] ?? .init()
        guard let facts = file.facts, case let isSame = facts.hasFacts(of: query), !isSame || !decisions.isEmpty,
            let name = try pictureName(file.digest)
        else { return nil }
        let ruling = decisions.ruling(on: name)
        // What was accepted, and is not any more, was not judged.
        let isWithdrawn = [.allowed, .refused].contains(ruling)
        if ruling == .accepted || isSame && !isWithdrawn { return nil }
        var query = query
        namesakes.mark(&query)
        let record = try await SourceMemory.record(of: query, decisions, sources, in: memory)
        let known = record.covers.first { !$0.match.lines.isEmpty && $0.name.isNamed(like: name) }
        if known?.certainty == .certain { return nil }
        let isAnswered = record.complete.contains(name.source)
        let isOther = isWithdrawn || isAnswered || Match.judge(query, name.album).certainty == .none
        let cause: OutdatedCover.Cause = ruling == .refused ? .refused : isWithdrawn ? .unaccepted : .tags
        return OutdatedCover(source: name.source, isOther: isOther, cause: cause)
    }
}

extension MusicState {
    /// The digests of the pictures that a fill has replaced by a cover file, as its album had got other facts, or as an acceptance was taken back:
    /// in tags, too, they give way to it.
    func outdatedPictures(before cover: FillPicture) throws(Problem) -> Set<Digest> {
        guard let folder = cover.path.parent,
            var row = try history(of: folder).first(where: { $0.path == cover.path && $0.digest == cover.digest }),
            let facts = row.facts
        else { return [] }
        let decisions = try decisions(of: row.album)
        var digests: Set<Digest> = []
        while let number = row.replaced, let former = try written(number: number) {
            let isAllowed = try ruling(on: former, decisions) == .allowed
            if isAllowed || former.facts?.hasFacts(of: facts) == false { digests.insert(former.digest) }
            row = former
        }
        return digests
    }
}

extension ScannedAlbum {
    /// What sources are asked for it, by a scan that changes no library: a person's edits stay.
    package func query(_ album: Album, since former: AlbumRecord?) -> AlbumQuery {
        AlbumQuery(facts, edited: AlbumRecord(id: album.id, self).updated(album, since: former))
    }
}
