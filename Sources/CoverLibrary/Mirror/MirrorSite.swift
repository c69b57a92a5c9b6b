import CurlHTTP
import HTTPTypes

/// The origin of a mirror, and the URLs under it: there are no others.
struct MirrorSite: Sendable {
    /// Without a slash at the end.
    let base: String
    private let origin: Substring

    /// - Throws: `LibraryError`.
    init(_ text: String) throws(LibraryError) {
        do throws(HTTPURL.Problem) {
            let url = try HTTPURL(text)
            guard !url.string.contains("?") else { throw HTTPURL.Problem.malformed("it must not hold a query") }
            var base = url.string
            while base.hasSuffix("/") { base.removeLast() }
            self.base = base
            origin = url.origin
        } catch {
            throw LibraryError.invalidConfiguration("the origin to mirror, \(CoverFailure.shown(text)): \(error)")
        }
    }

    /// The URL a request's target means; nil: it is none of the origin's (RFC 9112 §3.2.1).
    func url(_ target: String) -> HTTPURL? {
        guard target.hasPrefix("/"), let url = try? HTTPURL(base + target) else { return nil }
        // Dot segments may lead out of the folder that is mirrored; encoded ones are taken for such by some servers.
        guard url.origin == origin, url.string.hasPrefix(base + "/"), !Self.hasEncodedDots(url.string) else {
            return nil
        }
        return url
    }

    private static func hasEncodedDots(_ url: String) -> Bool {
        // Most URLs have nothing encoded, which bytes tell quickly.
        guard url.utf8.contains(UInt8(ascii: "%")) else { return false }
        return url.prefix { $0 != "?" }.split(separator: "/").contains { segment in
            segment.contains("%2E") && ["..", "."].contains(segment.replacing("%2E", with: "."))
        }
    }

    /// Whom a response's `Location` and `Content-Location` name, if that is the origin's (RFC 9111 §4.4).
    func named(by fields: HTTPFields, of url: HTTPURL) -> [String] {
        [HTTPField.Name.location, .contentLocation].compactMap { fields[$0] }.compactMap { reference in
            guard let named = resolve(reference, against: url), named.origin == origin else { return nil }
            return named.string
        }
    }

    /// RFC 3986 §5.2, by the form of the reference.
    func resolve(_ reference: String, against url: HTTPURL) -> HTTPURL? {
        let path = url.string.dropFirst(origin.count).prefix { $0 != "?" }
        let text: String =
            if reference.contains("://") {
                reference
            } else if reference.hasPrefix("//") {
                (url.isHTTPS ? "https:" : "http:") + reference
            } else if reference.hasPrefix("/") {
                "\(origin)\(reference)"
            } else if reference.hasPrefix("?") {
                "\(origin)\(path)\(reference)"
            } else if reference.isEmpty {
                url.string
            } else {
                "\(origin)\(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))\(reference)"
            }
        return try? HTTPURL(text)
    }
}
