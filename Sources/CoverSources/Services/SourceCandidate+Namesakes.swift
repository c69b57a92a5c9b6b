/// Albums of one artist and title: bands name several albums after themselves, and record an album again, with as many tracks.
extension SourceCandidate {
    /// A certain match is doubtful if all that speaks for it is also true of another album of its name.
    /// - Parameter others: What this source and the others have answered.
    func weighed(_ query: AlbumQuery, against others: [SourceCandidate]) -> SourceCandidate {
        guard match.isByName else { return self }
        let facts = Match.Facts(query, album)
        if facts.yearsAgree == true {
            let isOther = others.contains { other in
                isOtherGroup(than: other) == true && Match.Facts(query, other.album).score >= facts.score
                    && hasSameName(as: other)
            }
            return isOther ? doubted("another album of this name agrees as well") : self
        }
        // Only the number of tracks agrees.
        let alike = (others + [self]).filter { other in
            other.album.trackCount ?? album.trackCount == album.trackCount && hasSameName(as: other)
        }
        let areSeveral = alike.contains { one in
            Match.Facts(query, one.album).yearsAgree == false || alike.contains { one.isOther(than: $0) }
        }
        return areSeveral
            ? doubted("several albums of this name have as many tracks, and no year tells them apart") : self
    }

    private func hasSameName(as other: SourceCandidate) -> Bool {
        let names = Match.Names(album, other.album)
        return (names.artist, names.title) == (.equal, .equal) && names.haveSameEditions
    }

    /// Whether the release groups differ; nil if one is not known.
    private func isOtherGroup(than other: SourceCandidate) -> Bool? {
        album.releaseGroupID.flatMap { group in other.album.releaseGroupID.map { $0 != group } }
    }

    /// Whether two candidates of one name are different albums: of two release groups or years, or, where a source tells neither, two of its
    /// pictures.
    private func isOther(than other: SourceCandidate) -> Bool {
        if let isOtherGroup = isOtherGroup(than: other) { return isOtherGroup }
        if let year = album.year, let otherYear = other.album.year { return abs(year - otherYear) > 1 }
        return source == other.source && identity != other.identity
    }
}
