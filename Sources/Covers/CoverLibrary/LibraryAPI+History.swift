package import CoverFetch
import CoverCache
import CurlHTTP
package import Platform

/// What the cache knows of a URL.
package struct CoverHistory: Sendable {
    /// The URL as given.
    package var url: String
    /// The cached cover.
    package var cached: CoverListing?
    /// The server has answered 404 or 410, and is not asked again before `until`.
    package var absence: (status: Int, answeredAt: Date, until: Date)?
    /// The target of its permanent redirect, which is requested in its place.
    package var redirect: String?
}

extension LibraryAPI {
    /// What the cache knows of URLs, in order. Never connects, and counts as no use.
    /// - Throws: `CoverFailure` if a URL is not one of http or https, or the index cannot be read.
    package func history(of urls: [String]) async throws(CoverFailure) -> [CoverHistory] {
        var locations: [HTTPURL] = []
        for url in urls { locations.append(try covers.key(url)) }
        do {
            return try await covers.read { [covers, locations] reader in
                let hints = try covers.hints(of: locations, reader)
                return try urls.indices.map { index in
                    let absence = hints[index].absence
                    return CoverHistory(
                        url: urls[index],
                        cached: try reader.entry(for: locations[index].string).map { CoverListing($0) },
                        absence: absence.map {
                            ($0.status, Date(milliseconds: $0.answeredAt), Date(milliseconds: $0.until))
                        }, redirect: hints[index].redirect?.target.string)
                }
            }
        } catch {
            throw CoverFailure(cache: error, url: urls.first ?? "")
        }
    }
}
