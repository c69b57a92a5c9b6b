package import CoverSizes
package import CoverSources
package import Platform
import Synchronization

/// The pictures of many albums. One picture for unrelated albums, in whatever sizes and codings, is a service's placeholder, or a wrong match.
package struct RepeatedPictures: Sendable {
    /// A picture of albums of this number of artists is no cover, unless their albums have one title: those are parts of a compilation.
    private static let (minimumArtists, minimumTitles) = (3, 2)

    /// One picture, in all the sizes and codings that were seen.
    private struct Picture {
        /// Nil for one that cannot be read, or was not.
        var likeness: Likeness?
        var digests: Set<Digest>
        var artists: Set<String> = []
        var titles: Set<String> = []
        /// Earlier fills have found it for unrelated albums.
        var isKnown = false

        var isRepeated: Bool { isKnown || artists.count >= minimumArtists && titles.count >= minimumTitles }
    }

    private var pictures: [Picture] = []
    private var numbers: [Digest: Int] = [:]
    /// `Likeness.gradients`, and the numbers of their pictures.
    private var gradients: [(UInt64, number: Int)] = []

    package init() {}

    /// Adds an album's picture. Albums of one artist, and those of collective artists, may share one.
    /// - Parameter likeness: nil to compare the picture by its bytes.
    /// - Returns: Whether the picture is now that of unrelated albums.
    @discardableResult
    package mutating func add(_ digest: Digest, _ likeness: Likeness?, of album: AlbumQuery) -> Bool {
        let (artist, number) = (FoldedText(artist: album.artist), number(digest, likeness))
        if !artist.isVarious, !artist.key.isEmpty {
            pictures[number].artists.insert(artist.key)
            pictures[number].titles.insert(FoldedText(album.title, year: album.year).key)
        }
        return pictures[number].isRepeated
    }

    /// Counts a picture as that of unrelated albums.
    package mutating func addRepeated(_ digest: Digest, _ likeness: Likeness?) {
        pictures[number(digest, likeness)].isKnown = true
    }

    /// Whether the picture is that of unrelated albums.
    package func isRepeated(_ digest: Digest) -> Bool { numbers[digest].map { pictures[$0].isRepeated } ?? false }

    /// The digests of a picture in all the sizes and codings that were seen.
    package func renditions(of digest: Digest) -> Set<Digest> { numbers[digest].map { pictures[$0].digests } ?? [] }

    private mutating func number(_ digest: Digest, _ likeness: Likeness?) -> Int {
        if let number = numbers[digest] { return number }
        let number = likeness.flatMap { same(as: $0) } ?? pictures.count
        numbers[digest] = number
        if number < pictures.count {
            pictures[number].digests.insert(digest)
        } else {
            pictures.append(Picture(likeness: likeness, digests: [digest]))
            if let likeness { gradients.append((likeness.gradients, number)) }
        }
        return number
    }

    private func same(as likeness: Likeness) -> Int? {
        let wanted = likeness.gradients
        return gradients.first { entry in
            (entry.0 ^ wanted).nonzeroBitCount <= Likeness.maximumApart
                && pictures[entry.number].likeness.map { $0.verdict(with: likeness) == .same } ?? false
        }?.number
    }
}

/// What the doubtful covers of an album show, beside the picture in the tags of its songs.
struct CoverComparison: Sendable {
    /// A cover with a small rendition of its picture.
    struct Shown: Sendable {
        var cover: SourceCandidate
        var digest: Digest
        var likeness: Likeness
    }

    /// More covers are not compared.
    static let maximumCount = 8

    var shown: [Shown]
    /// The picture that all songs have in their tags.
    var tags: Likeness

    /// The covers about which the pictures tell something: the first one that shows what the tags have, and those with a picture of unrelated albums.
    /// - Parameters:
    ///   - all: Everything that was found for the album.
    ///   - pictures: To which the renditions are added.
    func judged(
        _ query: AlbumQuery, among all: [SourceCandidate], _ pictures: inout RepeatedPictures
    ) -> [SourceCandidate] {
        var (proved, repeated): (SourceCandidate?, [SourceCandidate]) = (nil, [])
        for one in shown {
            if pictures.add(one.digest, one.likeness, of: query) {
                repeated.append(one.cover.judged(.repeated))
            } else if proved == nil, tags.verdict(with: one.likeness) == .same {
                proved = one.cover.provedByTags(for: query, among: all)
            }
        }
        return [proved].compactMap(\.self) + repeated
    }
}

/// The likenesses of pictures, each of which is read once, by its digest.
package final class Likenesses: Sendable {
    private struct State {
        /// Of pictures that cannot be read, nil.
        var known: [Digest: Likeness?]
        var added: [Digest: Likeness] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter known: Those of earlier runs.
    package init(_ known: [Digest: Likeness] = [:]) { state = Mutex(State(known: known)) }

    /// Those of this run that were read.
    package var added: [Digest: Likeness] { state.withLock { $0.added } }

    package subscript(digest: Digest) -> Likeness? { state.withLock { $0.known[digest] ?? nil } }

    /// - Parameter read: Reads the picture, the first time.
    func likeness(of digest: Digest, _ read: () -> Likeness?) -> Likeness? {
        if let known = state.withLock({ $0.known[digest] }) { return known }
        let likeness = read()
        state.withLock { state in
            state.known[digest] = .some(likeness)
            state.added[digest] = likeness
        }
        return likeness
    }

    /// The likeness of a file with a digest.
    func likeness(of digest: Digest, at path: BytePath) -> Likeness? { likeness(of: digest) { Likeness(of: path) } }
}

extension Likeness {
    /// Reads a file; nil if it is no picture that can be read.
    init?(of path: BytePath) {
        guard let (bytes, isWhole) = try? RegularFile.contents(of: path), isWhole,
            let likeness = bytes.withUnsafeBytes({ Likeness($0) })
        else { return nil }
        self = likeness
    }
}
