import CoverCache
public import CoverFetch
import CurlHTTP
public import Platform

/// What the cache knows of a URL.
public struct CoverHistory: Sendable, Hashable, Codable {
    /// An answer that there is no cover.
    public struct Absence: Sendable, Hashable, Codable {
        /// 404 or 410.
        public var status: Int
        /// When the server has answered.
        public var answeredAt: Date
        /// It is not asked again before.
        public var until: Date
    }

    /// The URL as given.
    public var url: String
    /// The cached cover.
    public var cached: CoverListing?
    /// The server has answered that there is no cover.
    public var absence: Absence?

    /// A history made by the caller, for previews and tests. The other parts have their defaults.
    public init(url: String) { self.url = url }
}

extension CoverHistory.Absence {
    init(_ absence: Absence) {
        self.init(
            status: absence.status, answeredAt: Date(milliseconds: absence.answeredAt),
            until: Date(milliseconds: absence.until))
    }
}

extension LibraryAPI {
    /// What the cache knows of URLs, in order: the cover, or what is remembered of its absence. Never connects, and counts as no use.
    /// - Throws: `CoverFailure` if a URL is not one of http or https, or the index cannot be read.
    public func history(of urls: [String]) async throws(CoverFailure) -> [CoverHistory] {
        var locations: [HTTPURL] = []
        for url in urls { locations.append(try covers.key(url)) }
        do {
            return try await covers.read { [covers, locations] reader in
                let absences = try covers.absences(of: locations, reader)
                return try urls.indices.map { index in
                    var history = CoverHistory(url: urls[index])
                    history.cached = try reader.entry(for: locations[index].string).map { CoverListing($0) }
                    history.absence = absences[index].map { CoverHistory.Absence($0) }
                    return history
                }
            }
        } catch {
            throw CoverFailure(cache: error, url: urls.first ?? "")
        }
    }
}
