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
    /// The key that its requests have; nil for a service without.
    private(set) var key: SourceKey?
    /// What may be requested for an album, below `base`, in this order, until one answers with an album that may be it.
    let searches: @Sendable (AlbumQuery) -> [String]
    /// Reads the response to one.
    let read: @Sendable (SourceResponse) -> SourceReading
    /// Reads the response to a candidate's `details`: one candidate of what it says, for `SourceCandidate.adding`.
    let readDetails: @Sendable (SourceResponse) -> SourceReading
    /// Nil for a source that is searched.
    let location: Location?

    /// How a source that is not searched locates the covers of albums.
    struct Location: Sendable {
        /// The source that tells what is at a candidate's `details`, and its address.
        var informant: SourceName
        var base: String
        /// Why a cover is not looked for, and what is said of one that was located, or why it is none.
        var lack, found, doubt: String
        let candidates: @Sendable (AlbumQuery) -> [SourceCandidate]
    }

    init(
        _ name: SourceName, base: String, rate: RateRule?, needsContact: Bool = false,
        searches: @escaping @Sendable (AlbumQuery) -> [String] = { _ in [] },
        read: @escaping @Sendable (SourceResponse) -> SourceReading = { _ in .notFound },
        readDetails: @escaping @Sendable (SourceResponse) -> SourceReading = { _ in .notFound },
        location: Location? = nil
    ) {
        (self.name, self.base, self.rate, self.needsContact) = (name, base, rate, needsContact)
        (self.searches, self.read, self.readDetails, self.location) = (searches, read, readDetails, location)
    }

    /// The service that is requested: the source itself, or the informant of one that is not searched.
    var informant: (name: SourceName, base: String) { location.map { ($0.informant, $0.base) } ?? (name, base) }

    /// Whether it is searched, and a search takes a second at the most.
    var isQuick: Bool { location == nil && rate.map { $0.spacing <= .seconds(1) } ?? true }

    /// Candidates that need no search, because what is known of the album names them.
    package func known(_ query: AlbumQuery) -> [SourceCandidate] { location?.candidates(query) ?? [] }

    /// The URL that is requested first for an album; nil if the service has nothing to be asked.
    package func search(_ query: AlbumQuery) -> String? { searches(query).first.map { base + $0 } }

    /// The names to search for: as they are written, without what is in brackets, folded, and without the number at the end, which has many
    /// forms; then those of other artists, and of forms of ours. A form that services take for an earlier one is left out: they fold case and punctuation.
    static func names(of query: AlbumQuery) -> [(artist: String, title: String)] {
        let (artist, title) = (FoldedText(artist: query.artist), FoldedText(query.title, year: query.year))
        let name = artist.isVarious ? "" : artist.searchText
        let folded = artist.isVarious ? "" : artist.words.joined(separator: " ")
        let names = [
            (name, FoldedText.trimmed(FoldedText.spaced(query.title))), (name, title.searchText),
            (folded, title.words.joined(separator: " ")), (folded, title.wordsBeforeNumber.joined(separator: " ")),
        ]
        let forms = [ArtistEvidence.reversed(query.artist), ArtistEvidence.withoutBracket(name)].compactMap(\.self)
        let others = (query.otherArtists + forms)
            .map { FoldedText(artist: $0) }.filter { !$0.isVarious && $0.key != artist.key }
        var seen: Set<[String]> = []
        func isNew(_ title: String, by artist: String) -> Bool {
            !FoldedText(title).key.isEmpty
                && seen.insert([artist] + FoldedText.words(of: ScalarFolding.fold(title))).inserted
        }
        return names.filter { isNew($1, by: "") }
            + others.map { ($0.searchText, title.searchText) }.filter { isNew($1, by: $0) }
    }

    /// The sources in an order, at their addresses.
    /// - Parameters:
    ///   - order: the sources to ask, the first one first; nil for all services that may be asked.
    ///   - bases: addresses that replace the services' own, such as that of a mirror.
    ///   - keys: those that the person has.
    package static func table(
        _ order: [SourceName]? = nil, bases: [SourceName: String] = [:], keys: [SourceName: String] = [:]
    ) -> [CoverSource] {
        func base(_ name: SourceName) -> String {
            let base = bases[name] ?? SourceService.all.first { $0.name == name }?.address ?? ""
            return base.hasSuffix("/") ? String(base.dropLast()) : base
        }
        let services = SourceService.all.map { service in
            var source = service.source(base)
            source.key = service.key?.with(keys[service.name])
            return source
        }
        guard let order else { return services.filter { $0.key?.isKnown ?? true } }
        var seen: Set<SourceName> = []
        return order.filter { seen.insert($0).inserted }.compactMap { name in services.first { $0.name == name } }
    }

    /// All services, whether they may be asked or not.
    package static func all(bases: [SourceName: String] = [:]) -> [CoverSource] {
        table(SourceService.all.map(\.name), bases: bases)
    }

    /// Why a source that needs a contact or a key is not asked; nil if it may be.
    /// - Parameter userAgent: the `User-Agent` field that requests have.
    package func refusal(userAgent: String) -> String? {
        if let key, !key.isKnown { return "\(name.title) needs a key of yours in $\(key.variable)" }
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

/// The name of a source of covers, as options, reports and the memory have it.
package struct SourceName: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    /// The services' places in their order.
    private static let ranks = Dictionary(
        uniqueKeysWithValues: SourceService.all.enumerated().map { ($0.element.name, $0.offset) })

    /// The service's own name.
    package var title: String { Self.ranks[self].map { SourceService.all[$0].title } ?? rawValue }

    /// In the order of all services. Other names, such as one that a memory has of a former service, come first.
    package static func < (first: Self, second: Self) -> Bool {
        (ranks[first] ?? -1, first.rawValue) < (ranks[second] ?? -1, second.rawValue)
    }
}

/// A service that may be asked for covers: a row of the table of all of them. What it is asked, and how it answers, is in its file.
package struct SourceService: Sendable {
    package let name: SourceName
    /// Its own name, for people.
    let title: String
    /// Without a slash at the end.
    let address: String
    /// Nil for one that is asked without a key.
    package var key: SourceKey?
    /// The source, at the addresses that services have.
    let source: @Sendable (_ address: (SourceName) -> String) -> CoverSource

    /// All services, in the order in which they are asked if a person names none.
    package static let all = [
        SourceService(name: .caa, title: "Cover Art Archive", address: "https://coverartarchive.org") {
            .coverArtArchive($0(.caa), musicBrainz: $0(.musicbrainz))
        },
        SourceService(name: .musicbrainz, title: "MusicBrainz", address: "https://musicbrainz.org") {
            .musicBrainz($0(.musicbrainz), archive: $0(.caa))
        },
        SourceService(name: .itunes, title: "iTunes", address: "https://itunes.apple.com") { .iTunes($0(.itunes)) },
        SourceService(name: .deezer, title: "Deezer", address: "https://api.deezer.com") { .deezer($0(.deezer)) },
        SourceService(name: .discogs, title: "Discogs", address: "https://api.discogs.com", key: .discogs) {
            .discogs($0(.discogs))
        },
    ]
}

/// How many requests a service allows in how long a time, and how long it is left alone when it asks for fewer.
package struct RateRule: Sendable, Hashable {
    package var requests: Int
    package var interval: Duration
    /// The first pause after a throttled request. It doubles with each further one.
    package var pause: Duration

    package init(_ requests: Int, in interval: Duration, pause: Duration) {
        (self.requests, self.interval, self.pause) = (requests, interval, pause)
    }

    /// How long a request takes on the average.
    var spacing: Duration { interval / requests }
}

/// The key that a person has for a service. Requests have it in the field `Authorization`.
package struct SourceKey: Sendable {
    /// The environment variable that holds it.
    package let variable: String
    /// What stands before it in the field.
    private let scheme: String
    /// Nil if the person has none.
    private var value: String?

    init(_ variable: String, scheme: String) { (self.variable, self.scheme) = (variable, scheme) }

    var isKnown: Bool { value != nil }

    func with(_ value: String?) -> SourceKey {
        var key = self
        key.value = value
        return key
    }

    /// The value of the field `Authorization`; nil for none.
    package var authorization: String? { value.map { scheme + $0 } }
}
