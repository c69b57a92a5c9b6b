package import CoverSources
package import Platform
import SQLite

/// Why a picture is not written.
package enum Objection: Error, Sendable, Hashable {
    /// It is no whole picture: a clause about it.
    case damaged(String)
    /// It is no cover: a clause about it.
    case placeholder(String)
    /// - Parameter side: What is wanted, in pixels.
    case tooSmall(side: Int)
    /// A person has refused it for the album.
    case refused
    /// It shows what a person has refused of another entry.
    case alike
    /// A person has accepted another one.
    case other
    /// A person has removed it from there.
    case removed(BytePath)
    /// An undo has taken it back from there, and nobody watches this fill.
    case undone(BytePath)

    /// For a person.
    package var reason: String {
        switch self {
        case .damaged(let reason), .placeholder(let reason): "its picture \(reason)"
        case .tooSmall(let side): "only covers with a side of fewer than \(side) pixels were found"
        case .refused, .alike: SourceCandidate.refusal
        case .other: "you accepted another cover; `sleeve fill allow` takes that back"
        case .removed: "you removed the cover that a fill wrote; `sleeve fill allow` lets it be written again"
        case .undone: "`sleeve fill undo` took it back; a fill without --quiet writes it again"
        }
    }
}

/// The gate. Every cover file and every picture in tags that a fill writes goes through `begin`: it knows what a person has said, what is and what
/// was in the place, and what is no cover. What undo puts back was there before.
extension MusicState {
    /// Remembers a row as begun, unless something speaks against it: one transaction, in which no music disk is touched.
    /// - Throws: `Objection` or `Problem`.
    func begin(_ row: Written, _ picture: FillPicture, _ options: FillOptions) throws -> Written {
        var rows = try history(of: row.folder).filter { $0.kind == row.kind && $0.number != row.replaced }
        let picture = try named(picture, for: row.album, hasHistory: !rows.isEmpty)
        let songs = row.otherSongs(in: rows)
        rows.removeAll { [.begun, .leaving].contains($0.state) }
        if row.kind == .tags { rows.removeAll { $0.song?.audio != row.song?.audio || songs.contains($0.name) } }
        var (begun, objection) = (row, Objection?.none)
        (begun.state, begun.time) = (.begun, WallClock.milliseconds())
        begun.isAgain =
            try rows.first { try isSame(picture.name, picture.digest, $0) }?.state == .undone
            && decisions(of: row.album).ruling(on: picture.name) != .accepted
        try transaction {
            objection = try self.objection(to: picture, for: row.album, among: rows, options)
            if objection != nil { return }
            begun.number = try insert(begun)
            try insert(picture.name, of: row.digest)
        }
        if let objection { throw objection }
        if picture.giver == .address { try noteSeen(picture.name, for: row.album) }
        return begun
    }

    /// What speaks against a picture for an album, wherever it would be written; nil if nothing does.
    func mayWrite(_ picture: FillPicture, for album: String, _ options: FillOptions) throws -> Objection? {
        let picture = try named(picture, for: album, hasHistory: false)
        return try objection(to: picture, for: album, among: [], options)
    }

    private func objection(
        to picture: FillPicture, for album: String, among rows: [Written], _ options: FillOptions
    ) throws -> Objection? {
        let decisions = try decisions(of: album)
        if let objection = objection(to: picture, decisions, options) { return objection }
        return try objection(to: picture.name, picture.digest, among: rows, decisions, options)
    }

    private func objection(to picture: FillPicture, _ decisions: Decisions, _ options: FillOptions) -> Objection? {
        if let damage = picture.facts.damage { return .damaged(damage) }
        if let reason = ShownPictures.refusal(ofFile: picture.facts.mediaType) { return .placeholder(reason) }
        if picture.giver == .file { return nil }
        switch decisions.ruling(on: picture.name) {
        case .accepted: return nil
        case .refused: return .refused
        case .alike where picture.giver == .fill: return .alike
        default: if decisions.acceptance.map({ !$0.picture.isAddress }) == true { return .other }
        }
        let (width, height) = (picture.facts.width, picture.facts.height)
        if let reason = Placeholder.reason(width: width, height: height, hasOneColour: picture.hasOneColour == true) {
            return .placeholder(reason)
        }
        guard let side = options.minimumPixels, min(width ?? 0, height ?? 0) < side else { return nil }
        return .tooSmall(side: side)
    }

    /// What speaks against a cover of a source in a folder, by its names and what was there before.
    package func objection(
        to cover: SourceCandidate, for album: String, in folder: BytePath, _ options: FillOptions
    ) throws -> Objection? {
        let rows = try history(of: folder).filter { $0.kind == .file && ![.begun, .leaving].contains($0.state) }
        return try objection(to: cover.name, nil, among: rows, decisions(of: album), options)
    }

    /// Of the rows of a picture each removal counts, and the newest one.
    /// - Parameters:
    ///   - digest: Of the bytes that would be written.
    ///   - rows: What was in the place before.
    private func objection(
        to name: PictureName, _ digest: Digest?, among rows: [Written], _ decisions: Decisions, _ options: FillOptions
    ) throws -> Objection? {
        let same = try rows.filter { try isSame(name, digest, $0) }
        if let row = same.first(where: { $0.state == .removed && !decisions.haveAccepted(name, since: $0) }) {
            return .removed(row.path)
        }
        guard let row = same.first, !decisions.haveAccepted(name, since: row) else { return nil }
        switch row.state {
        // A song that has no picture any more, or another one that took its place.
        case .there:
            let isReplaced = try history(of: row.folder).contains {
                $0.replaced == row.number && ($0.isInPlace || $0.state == .allowed)
            }
            return row.kind == .tags && !isReplaced ? .removed(row.path) : nil
        case .undone: return options.isUnwatched ? .undone(row.path) : nil
        case .removed, .allowed, .begun, .leaving: return nil
        }
    }

    /// Whether a person has refused the picture of a row for its album.
    func isRefused(_ row: Written) throws(Problem) -> Bool {
        try ruling(on: row, decisions(of: row.album)) == .refused
    }

    /// What a person has said about the picture of a row.
    func ruling(on row: Written, _ decisions: Decisions) throws(Problem) -> Decisions.Ruling? {
        try pictureName(of: row.digest).flatMap { decisions.ruling(on: $0) }
    }

    /// The rows in whose place another picture belongs that a person has accepted: their numbers.
    package func unaccepted(_ rows: [Written]) throws(Problem) -> Set<Int64> {
        let said = try decisions().filter { $1.acceptance != nil }
        var numbers: Set<Int64> = []
        for row in rows {
            guard let decisions = said[row.album] else { continue }
            if try ruling(on: row, decisions) != .accepted { numbers.insert(row.number) }
        }
        return numbers
    }

    // MARK: Songs

    /// Whether a person has taken this picture out of a song that did not change since a fill has seen that, and has not accepted it since.
    func isRemoved(_ row: Written, _ modified: Int64) throws(Problem) -> Bool {
        let removed = try history(of: row.folder).filter {
            $0.kind == .tags && $0.name == row.name && $0.digest == row.digest && $0.state == .removed
                && $0.modified == modified
        }
        guard let name = try removed.isEmpty ? nil : pictureName(of: row.digest) else { return !removed.isEmpty }
        let decisions = try decisions(of: row.album)
        return removed.contains { !decisions.haveAccepted(name, since: $0) }
    }

    /// A person has taken the picture out of a song.
    func noteRemoved(_ song: Written) throws(Problem) {
        let rows = try history(of: song.folder).filter { $0.kind == .tags }
        let others = song.otherSongs(in: rows)
        // What another one has replaced is not what was taken out.
        let replaced = Set(rows.lazy.filter { $0.state != .undone }.compactMap(\.replaced))
        for row in rows
        where row.song?.audio == song.song?.audio && !others.contains(row.name)
            && [.there, .removed].contains(row.state) && !replaced.contains(row.number)
        {
            var removed = row
            (removed.modified, removed.name) = (song.modified, song.name)
            if row.state == .removed { try save(removed) } else { try setRemoved(removed) }
        }
    }

    private func isSame(_ name: PictureName, _ digest: Digest?, _ row: Written) throws -> Bool {
        if row.digest == digest || row.digest.description == name.digest { return true }
        return try pictureName(of: row.digest)?.relation(to: name) != nil
    }

    /// With all that a comparison may ask for. The picture is decoded only if there is something to compare it with.
    private func named(_ picture: FillPicture, for album: String, hasHistory: Bool) throws -> FillPicture {
        var picture = picture
        guard picture.name.likeness == nil, let likenesses = picture.likenesses else { return picture }
        let isCompared = try hasHistory || !decisions(of: album).isEmpty
        picture.name.likeness =
            isCompared ? likenesses.likeness(of: picture.digest, at: picture.path) : likenesses[picture.digest]
        return picture
    }
}

extension Decisions {
    /// Whether a person has accepted a picture after a row got its state. Another one lets none be written again.
    fileprivate func haveAccepted(_ picture: PictureName?, since row: Written) -> Bool {
        guard let picture, let acceptance, acceptance.time > row.time else { return false }
        return ruling(on: picture) == .accepted
    }
}

extension Written {
    /// Of the songs that rows name, those that are beside this one: a song that was renamed is known by its audio, which two songs may share.
    fileprivate func otherSongs(in rows: [Written]) -> Set<[UInt8]> {
        guard kind == .tags else { return [] }
        let others = rows.filter { $0.name != name && $0.song?.audio == song?.audio && $0.isThere }
        return Set(others.map(\.name))
    }
}

/// A picture that is about to be written, with what the gate asks of it.
package struct FillPicture: Sendable {
    package var path: BytePath
    /// Of the file at the path.
    package var digest: Digest
    /// By what a person's decision about it is found, with the digest of the bytes that were found: those at the path may be a smaller copy.
    var name: PictureName
    /// Of what was found.
    var facts: CoverFacts
    /// False if that was not looked at: what a person has given, or accepted, may have one colour.
    var hasOneColour = false
    var giver = Giver.fill
    /// What is known of pictures; nil to compare none.
    var likenesses: Likenesses?
    /// nil for a picture in the tags.
    var url: String?
    var origin = Origin.own
    /// What a source has offered; nil for a picture that the album had.
    var offer: SourceCandidate?

    /// Where a cover is from.
    package enum Origin: Sendable, Hashable {
        /// A URL that the album had.
        case own
        /// The tags of the album's songs.
        case tags
        case source(SourceName)
    }

    /// Whose it is. What a person has given outweighs what was said of what services offered.
    enum Giver: Sendable { case fill, address, file }

    init(path: BytePath, digest: Digest, name: PictureName) {
        (self.path, self.digest, self.name, facts) = (path, digest, name, CoverFacts(of: path))
        self.name.digest = digest.description
    }
}

/// What a person wants of a fill.
package struct FillOptions: Sendable, Hashable {
    /// Look for larger covers in place of files that an earlier fill wrote.
    package var upgrades = false
    /// Write the covers that a person has accepted, and no others. They replace what fills wrote, larger or not.
    package var writesAcceptedOnly = false
    /// Pixels that the shorter side of a cover must have; nil for any number. An upgrade leaves covers that have them.
    package var minimumPixels: Int?
    /// Write covers with at most this many pixels on the longest side, as baseline JPEG; nil to write them as they are.
    package var longestSide: Int?
    /// Look for the covers of albums that have no folder alone: they go into the tags of their songs.
    package var embeds = false
    /// The services that are asked before the pictures in the tags are looked at; nil to leave those out.
    package var servicesBeforeTags: Set<SourceName>? = []
    /// Nobody watches: what an undo has taken back is not written again.
    package var isUnwatched = false

    package init() {}
}
