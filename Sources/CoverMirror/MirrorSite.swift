import CoverLibrary
import CurlHTTP
import HTTPTypes
import Platform

/// The URLs that a mirror serves: those of one origin, under one path.
struct MirrorSite: Sendable {
    /// Without a trailing slash.
    let base: String
    private let origin: Substring
    private let ignored: Set<String>

    /// - Parameter ignored: as `LibraryConfiguration.ignoredParameters`.
    /// - Throws: `LibraryError` if `text` is no http or https URL, has a query, or holds credentials.
    init(_ text: String, ignoring ignored: Set<String> = []) throws(LibraryError) {
        self.ignored = ignored
        do throws(HTTPURL.Problem) {
            let url = try HTTPURL(text)
            guard !url.string.contains("?") else { throw HTTPURL.Problem.malformed("it must not hold a query") }
            var base = url.string
            while base.hasSuffix("/") { base.removeLast() }
            self.base = base
            origin = url.origin
        } catch {
            throw .invalidConfiguration("the origin to mirror, \(Redaction.displayable(text)): \(error)")
        }
    }

    /// The URL of a request target in origin form (RFC 9112 section 3.2.1). Nil if the site does not contain it.
    func url(_ target: String) -> HTTPURL? {
        guard target.hasPrefix("/"), base.utf8.count == origin.utf8.count || PathDepth.staysInside(target),
            let url = try? HTTPURL(base + target, ignoring: ignored), url.origin == origin,
            url.string.hasPrefix(base + "/")
        else { return nil }
        return url
    }

    /// The URLs in `Location` and `Content-Location` of a response, if they are of the origin (RFC 9111 section 4.4).
    func locations(in fields: HTTPFields, of url: HTTPURL) -> [String] {
        [HTTPField.Name.location, .contentLocation].compactMap { fields[$0] }.compactMap { reference in
            guard let location = resolve(reference, against: url), location.origin == origin else { return nil }
            return location.string
        }
    }

    /// Resolves a URL reference (RFC 3986 section 5.2).
    func resolve(_ reference: String, against url: HTTPURL) -> HTTPURL? {
        try? HTTPURL(url.resolving(reference), ignoring: ignored)
    }
}
