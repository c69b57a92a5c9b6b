import Platform

/// A service that is asked for covers: its address, its manners, what it is asked, and how its answer is read.
///
/// The table of all sources is `CoverSource.table`. A source is a value: nothing here sends a request.
package struct CoverSource: Sendable {
    package let name: SourceName
    /// Its address, without a slash at the end.
    package let base: String
    /// Nil for a service without a published limit.
    package let rate: RateRule?
    /// The service refuses clients whose `User-Agent` names no contact.
    package let needsContact: Bool
    /// The URL that is requested for an album; nil if the service has nothing to be asked.
    package let search: @Sendable (AlbumQuery) -> String?
    /// Reads the response to it.
    let read: @Sendable (SourceResponse) -> SourceReading
    /// Candidates that need no request, because an id in the album's tags names them.
    package let known: @Sendable (AlbumQuery) -> [SourceCandidate]

    init(
        _ name: SourceName, base: String, rate: RateRule?, needsContact: Bool = false,
        search: @escaping @Sendable (AlbumQuery) -> String?,
        read: @escaping @Sendable (SourceResponse) -> SourceReading,
        known: @escaping @Sendable (AlbumQuery) -> [SourceCandidate] = { _ in [] }
    ) {
        (self.name, self.base, self.rate, self.needsContact) = (name, base, rate, needsContact)
        (self.search, self.read, self.known) = (search, read, known)
    }

    /// The sources in an order, at their addresses.
    /// - Parameters:
    ///   - order: the sources to ask, the first one first.
    ///   - bases: addresses that replace the services' own, such as that of a mirror.
    package static func table(
        _ order: [SourceName] = SourceName.allCases, bases: [SourceName: String] = [:]
    ) -> [CoverSource] {
        func base(_ name: SourceName) -> String {
            let base = bases[name] ?? name.defaultBase
            return base.hasSuffix("/") ? String(base.dropLast()) : base
        }
        var seen: Set<SourceName> = []
        return order.filter { seen.insert($0).inserted }.map { name in
            switch name {
            case .caa: coverArtArchive(base(.caa))
            case .musicbrainz: musicBrainz(base(.musicbrainz), archive: base(.caa))
            case .itunes: iTunes(base(.itunes))
            case .deezer: deezer(base(.deezer))
            }
        }
    }

    /// Why a source that needs a contact is not asked; nil if it may be.
    /// - Parameter userAgent: the `User-Agent` field that requests have.
    package func refusal(userAgent: String) -> String? {
        guard needsContact, !Self.hasContact(userAgent) else { return nil }
        return
            "\(name.title) refuses clients without a contact; name a mail address or a page with --contact or $SLEEVE_CONTACT"
    }

    /// Whether a `User-Agent` field names a mail address or a page.
    package static func hasContact(_ userAgent: String) -> Bool {
        userAgent.contains("://") || userAgent.split(separator: "@").count > 1
    }

    /// A URL with a query.
    static func url(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
        let query = parameters.map { "\($0.name)=\(PercentEncoding.encoded($0.value))" }
        return "\(path)?\(query.joined(separator: "&"))"
    }

    /// How many albums a source is asked for.
    static let limit = "25"
}
