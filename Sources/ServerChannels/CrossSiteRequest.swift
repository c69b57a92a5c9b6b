package import HTTPTypes

/// Requests that a page of another site has made a browser send. Every page can send some to servers on the same machine.
package enum CrossSiteRequest {
    /// Whether the browser says that another site's page has sent the request (Fetch Metadata). A person who follows a link or types
    /// an address is no page.
    package static func isFromOtherSite(_ fields: HTTPFields) -> Bool {
        guard let site = fields[HTTPField.Name("Sec-Fetch-Site")!] else { return false }
        return site != "same-origin" && site != "none"
    }

    /// Whether `Origin` (RFC 6454 section 7) names another origin than the server's own, or hides its own (`null`).
    /// - Parameter host: of the request.
    package static func hasForeignOrigin(_ fields: HTTPFields, host: String) -> Bool {
        guard let origin = fields[.origin]?.lowercased() else { return false }
        return origin != "http://\(host.lowercased())" && origin != "https://\(host.lowercased())"
    }
}
