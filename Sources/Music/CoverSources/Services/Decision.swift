package import CoverSizes
import Platform

/// What a person has said about a picture for one album of the library.
package struct Decision: Sendable, Hashable, Codable {
    package enum Verdict: String, Sendable, Codable {
        case accepted, refused
        /// What was said before, an acceptance too, is taken back.
        case allowed
    }

    /// The order of decisions: a later one has a higher number. Given when the decision is stored.
    package var number: Int64 = 0
    /// The album's id in the library.
    package var album: String
    package var picture: PictureName
    package var verdict: Verdict
    /// Whether the cover was certain to be the album's.
    package var wasCertain = false
    /// Milliseconds since 1970.
    package var time: Int64
    /// The number of the fill whose command has accepted the picture; nil for other decisions.
    package var run: Int64?
    /// The fill was taken back.
    package var isUndone = false

    package init(
        _ verdict: Verdict, _ picture: PictureName, of album: String, wasCertain: Bool = false, run: Int64? = nil,
        time: Int64 = WallClock.milliseconds()
    ) {
        (self.verdict, self.picture, self.album, self.wasCertain) = (verdict, picture, album, wasCertain)
        (self.run, self.time) = (run, time)
    }
}

/// A picture, by all that is known of it.
package struct PictureName: Sendable, Hashable, Codable {
    package var source: SourceName
    /// The album as the source describes it.
    package var album: AlbumQuery
    /// The source's own identity of the entry, as `deezer:123`, and MusicBrainz ids.
    package var ids: Set<String> = []
    /// The URLs of the picture in the order of trying.
    package var urls: [String]
    /// SHA-256 of its bytes, 64 hexadecimal digits; nil if they are not known.
    package var digest: String?
    /// `Likeness.version`, and `Likeness.stored`.
    private var storedLikeness: Data?

    package init(_ source: SourceName, _ album: AlbumQuery, urls: [String], digest: String? = nil) {
        (self.source, self.album, self.urls, self.digest) = (source, album, urls, digest)
    }

    /// What the picture shows; nil if that is not known, or was stored by another version.
    package var likeness: Likeness? {
        get {
            storedLikeness.flatMap { data in
                data.first == UInt8(Likeness.version) ? Likeness(stored: Array(data.dropFirst())) : nil
            }
        }
        set { storedLikeness = newValue.map { Data([UInt8(Likeness.version)] + $0.stored) } }
    }

    /// Whether it is what a person gave an album by its address alone: what is there may never have been seen.
    package var isAddress: Bool { source == .picture && digest == nil }

    /// The address that a person gave; nil for a picture of the tags or of a service.
    package var address: String? { source == .picture ? urls.first { $0.contains("://") } : nil }

    package enum Relation { case same, alike }

    /// Whether two names are of one picture. Where the bytes of both are known, these decide: another picture may be at the same address by
    /// now. A picture of another entry that shows the same is alike only: small type may differ.
    package func relation(to other: PictureName) -> Relation? {
        let areNamedAlike = isNamed(like: other)
        guard let digest, let otherDigest = other.digest else { return areNamedAlike ? .same : nil }
        if digest == otherDigest { return .same }
        switch likeness.flatMap({ one in other.likeness.map { one.verdict(with: $0) } }) {
        case .same: return areNamedAlike ? .same : .alike
        // Nothing can be compared.
        case nil, .plain: return areNamedAlike ? .same : nil
        case .alike, .different: return nil
        }
    }

    /// Whether they have an identity or a URL in common.
    package func isNamed(like other: PictureName) -> Bool {
        !ids.isDisjoint(with: other.ids)
            || !Set(urls.map(Self.withoutSize)).isDisjoint(with: other.urls.map(Self.withoutSize))
    }

    /// The URL without what says how large the rendition is, as in `…/100x100bb.jpg` and `…/front-1200`.
    static func withoutSize(_ url: String) -> String {
        guard let slash = url.lastIndex(of: "/") else { return url }
        let name = url[slash...].dropFirst().replacing(#/\d+x\d+/#, with: "")
        return String(url[...slash]) + (name.wholeMatch(of: #/front-\d+/#) == nil ? name : "front")
    }
}

/// What a person has said about the pictures of one album: of each picture the newest decision counts, of acceptances the newest one.
package struct Decisions: Sendable, Hashable {
    package enum Ruling: Sendable {
        case accepted, refused, allowed
        /// A picture of another entry was refused that shows the same.
        case alike
    }

    /// The newest first.
    private var all: [Decision]

    /// - Parameter decisions: In any order, with those that were undone.
    package init(_ decisions: [Decision] = []) {
        all = decisions.filter { !$0.isUndone }.sorted { $0.number > $1.number }
    }

    package var isEmpty: Bool { all.isEmpty }

    /// With newer ones, the newest first, and with those that have changed since.
    package func adding(_ others: [Decision]) -> Decisions {
        let numbers = Set(others.map(\.number))
        var decisions = self
        decisions.all = others.filter { !$0.isUndone } + all.filter { !numbers.contains($0.number) }
        return decisions
    }

    /// What was said about a picture; nil if nothing was, or if another one was accepted since it was.
    package func ruling(on picture: @autoclosure () -> PictureName) -> Ruling? {
        if all.isEmpty { return nil }
        let picture = picture()
        let relations = all.map { picture.relation(to: $0.picture) }
        guard let index = relations.firstIndex(of: .same) else {
            let alike = relations.firstIndex(of: .alike)
            return alike.map { all[$0].verdict } == .refused ? .alike : nil
        }
        switch all[index].verdict {
        case .accepted: return all[..<index].contains { $0.verdict == .accepted } ? nil : .accepted
        case .refused: return .refused
        case .allowed: return .allowed
        }
    }

    /// The acceptances and refusals that count, the newest first.
    package var current: [Decision] {
        all.enumerated().filter { index, decision in
            [.accepted, .refused].contains(ruling(on: decision.picture))
                && !all[..<index].contains { $0.picture.relation(to: decision.picture) == .same }
        }.map(\.element)
    }

    /// The acceptance that counts; nil if there is none.
    package var acceptance: Decision? { current.first { $0.verdict == .accepted } }

    /// What takes back what was said about covers, under each of their names: those that have the same bytes may be other entries'.
    package func allowing(_ covers: [SourceCandidate]) -> [Decision] {
        let inForce = all.filter { $0.verdict != .allowed && isInForce($0) }
        let meant = inForce.filter { said in covers.contains { $0.name.isNamed(like: said.picture) } }
        var allowed: [Decision] = []
        for said in inForce where meant.contains(where: { $0.picture.relation(to: said.picture) == .same }) {
            if !allowed.contains(where: { $0.picture.isNamed(like: said.picture) }) {
                allowed.append(Decision(.allowed, said.picture, of: said.album))
            }
        }
        return allowed
    }

    /// Whether a decision counts for its picture, or for what has the name alone, whose bytes are not known.
    private func isInForce(_ said: Decision) -> Bool {
        var name = said.picture
        name.digest = nil
        return [said.picture, name].contains { picture in
            let ruling = ruling(on: picture)
            return ruling == .accepted || ruling == .refused
        }
    }
}
