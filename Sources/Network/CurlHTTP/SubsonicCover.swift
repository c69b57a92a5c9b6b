import Platform

/// The address of a cover in the Subsonic API, which Navidrome, Airsonic, gonic and others have:
///
///     https://host/rest/getCoverArt.view?u=me&t=…&s=…&v=1.16.1&c=client&id=al-42&size=600
///
/// Every client sends another user, token and salt, so that one cover has any number of addresses (subsonic.org/pages/api.jsp).
enum SubsonicCover {
    /// Parameters of the client: user, password, token and salt, version, name, format, and OpenSubsonic's key.
    private static let clientParameters: Set<String> = ["u", "p", "t", "s", "v", "c", "f", "apiKey"]
    private static let names = ["/rest/getCoverArt", "/rest/getCoverArt.view"].map { Array($0.utf8) }

    /// Whether a URL or a request target is such an address.
    static func isAddress(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        // The last letter rules out most URLs.
        guard let last = path.last, last == UInt8(ascii: "t") || last == UInt8(ascii: "w") else { return false }
        return names.contains { path.suffix($0.count).elementsEqual($0) }
    }

    /// The names of the parameters that belong to the client; none for any other target.
    static func clientParameters(of target: [UInt8]) -> Set<String> { isAddress(target) ? clientParameters : [] }
}

extension HTTPURL {
    /// A normalized request target without these parameters. If it had any of them, the others are in the order of their text.
    static func target(_ target: [UInt8], without names: Set<String>) -> [UInt8] {
        guard !names.isEmpty, let question = target.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let parameters = target[(question + 1)...].split(separator: UInt8(ascii: "&"))
        let kept = parameters.filter { parameter in
            !names.contains(String(decoding: parameter.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        }
        if kept.count == parameters.count { return target }
        let query = kept.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: "&")])
        return target[..<question] + (kept.isEmpty ? [] : [UInt8(ascii: "?")] + query)
    }

    /// The key is a cover's of a Subsonic server, without credentials. It cannot be requested.
    package var keyOmitsCredentials: Bool { SubsonicCover.isAddress(string.utf8) }
}
