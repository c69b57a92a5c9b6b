import CoverSources
import Platform

/// Judges the covers of scanned albums. A value: nothing here reads a file.
///
/// An album's cover is the file beside its music, else the picture in its tags.
package struct Audit: Sendable {
    /// The shorter side of a cover, in pixels, below which it counts as small.
    package static let defaultMinimum = 500

    /// By kind, then by path.
    package private(set) var findings: [AuditFinding] = []

    private let minimum: Int
    private let outdated: [BytePath: OutdatedCover.Cause]
    private var repeated = RepeatedPictures()
    /// How many albums have each picture.
    private var albums: [Digest: Int] = [:]
    /// Files that were judged for another album in their folder.
    private var judged: Set<BytePath> = []

    /// A picture that stands for an album.
    private struct Picture {
        var path: BytePath
        var isEmbedded = false
        var facts: CoverFacts

        var subject: String { isEmbedded ? "the picture in the tags " : "" }
    }

    /// - Parameters:
    ///   - facts: What was read of the places' covers. Those that are missing are not judged.
    ///   - kinds: The faults to look for.
    ///   - outdated: Cover files of fills that are not certain by now, and why.
    ///   - likenesses: By which the pictures of unrelated albums are compared.
    package init(
        _ places: [AuditedPlace], facts: [BytePath: CoverFacts], minimum: Int = defaultMinimum,
        kinds: Set<AuditKind> = Set(AuditKind.allCases), outdated: [BytePath: OutdatedCover.Cause] = [:],
        likenesses: Likenesses = .init()
    ) {
        (self.minimum, self.outdated) = (minimum, outdated)
        let pictures = places.map { Self.pictures(of: $0, facts) }
        var counted: Set<[String]> = []
        for (place, pictures) in zip(places, pictures) {
            for digest in pictures.compactMap(\.facts.digest) {
                repeated.add(digest, likenesses[digest], of: AlbumQuery(artist: place.artist, title: place.title))
                // Places and discs of one album share its cover.
                if counted.insert(["\(digest)", place.artist, place.title]).inserted {
                    albums[digest, default: 0] += 1
                }
            }
        }
        for (place, pictures) in zip(places, pictures) {
            judgePresence(of: place)
            for picture in pictures {
                if picture.isEmbedded || judged.insert(picture.path).inserted { judge(picture, of: place) }
                judgeRepetition(of: picture, in: place)
            }
        }
        findings = AuditKind.allCases.filter(kinds.contains).flatMap { kind in
            findings.filter { $0.kind == kind }.sorted { $0.path < $1.path }
        }
    }

    /// The cover files that were read; without any, the picture in the tags.
    private static func pictures(of place: AuditedPlace, _ facts: [BytePath: CoverFacts]) -> [Picture] {
        if !place.covers.isEmpty {
            return place.covers.compactMap { path in facts[path].map { Picture(path: path, facts: $0) } }
        }
        guard let embedded = place.place.embedded, let folder = place.place.folders.first else { return [] }
        var facts = CoverFacts()
        (facts.mediaType, facts.width, facts.height) = (embedded.mediaType, embedded.width, embedded.height)
        facts.digest = embedded.digest
        if embedded.mediaType == nil { facts.damage = "is no image" }
        return [Picture(path: folder, isEmbedded: true, facts: facts)]
    }

    // MARK: Faults

    private mutating func judgePresence(of place: AuditedPlace) {
        let (tracks, embedded) = (place.place.tracks, place.place.embeddedTracks)
        guard let folder = place.lacking.first, embedded < tracks else { return }
        let tags = embedded == 0 ? "none in the tags" : "\(embedded) of \(tracks) tracks have one in their tags"
        add(.missing, place, folder, nil, "no cover file, and \(tags)")
    }

    private mutating func judge(_ picture: Picture, of place: AuditedPlace) {
        let facts = picture.facts
        func add(_ kind: AuditKind, _ detail: String) {
            self.add(kind, place, picture.path, facts, picture.subject + detail)
        }
        if let cause = outdated[picture.path] { add(.outdated, cause.reason) }
        if let damage = facts.damage { add(.damaged, damage) }
        let placeholder = Placeholder.reason(width: facts.width, height: facts.height)
        if let placeholder { return add(.placeholder, placeholder) }
        guard let width = facts.width, let height = facts.height else { return }
        if min(width, height) < minimum { add(.small, "has \(width)×\(height) pixels") }
    }

    private mutating func judgeRepetition(of picture: Picture, in place: AuditedPlace) {
        guard let digest = picture.facts.digest, repeated.isRepeated(digest) else { return }
        let count = repeated.renditions(of: digest).reduce(0) { $0 + albums[$1, default: 0] }
        add(
            .repeated, place, picture.path, picture.facts,
            "\(picture.subject)is the cover of \(count) albums by different artists")
    }

    private mutating func add(
        _ kind: AuditKind, _ place: AuditedPlace, _ path: BytePath, _ facts: CoverFacts?, _ detail: String
    ) {
        findings.append(
            AuditFinding(
                kind: kind, artist: place.artist, title: place.title, year: place.year, path: path, width: facts?.width,
                height: facts?.height, detail: detail))
    }
}

/// A fault that an audit finds in the cover of an album.
package enum AuditKind: String, CaseIterable, Sendable {
    /// Neither a cover file nor a picture in the tags of every track.
    case missing
    /// Fewer pixels than wanted, on the shorter side.
    case small
    /// No image, cut off, or not readable.
    case damaged
    /// A picture that a service shows in place of a cover.
    case placeholder
    /// The picture of albums of several artists.
    case repeated
    /// A fill wrote it for other tags, or it is accepted no longer, or refused, and it is not certain for today's.
    case outdated
}

/// A fault of one album's cover.
package struct AuditFinding: Sendable, Hashable {
    package var kind: AuditKind
    package var artist: String
    package var title: String
    package var year: Int?
    /// The cover file; a folder of the album if it has none, or for a picture in the tags.
    package var path: BytePath
    /// The picture's size in pixels; nil if it is not known or there is none.
    package var width: Int?
    package var height: Int?
    /// What is wrong, for a person.
    package var detail: String
}

/// A place of an album, with the cover files that an audit looks at.
package struct AuditedPlace: Sendable, Hashable {
    package var artist: String
    package var title: String
    package var year: Int?
    package var place: AlbumPlace
    /// The cover that stands for the album, and those of its further discs.
    package var covers: [BytePath] = []
    /// Folders of the album that lack a cover file.
    package var lacking: [BytePath] = []

    package init(artist: String, title: String, year: Int? = nil, place: AlbumPlace) {
        (self.artist, self.title, self.year, self.place) = (artist, title, year, place)
        covers = place.covers.map(\.path)
        let covered = Set(covers.lazy.compactMap(\.parent))
        lacking = place.cover == nil ? place.coverFolders.filter { !covered.contains($0) } : []
    }

    /// The places of albums.
    package static func all(of albums: [ScannedAlbum]) -> [AuditedPlace] {
        albums.flatMap { album in
            album.places.map {
                AuditedPlace(artist: album.artist, title: album.title, year: album.facts.year, place: $0)
            }
        }
    }
}

extension TagPictures {
    /// Reads what the pictures show that stand for albums without a cover file, each once.
    package func read(_ places: [AuditedPlace], _ likenesses: Likenesses, isCancelled: @Sendable () -> Bool) {
        for place in places where place.covers.isEmpty && !isCancelled() {
            guard let picture = place.place.embedded?.digest else { continue }
            _ = likeness(of: picture, in: place.place.folders, likenesses)
        }
    }
}
