import Platform

/// A person's own service, as an option names it: a pattern of the URLs that have the covers of albums, or that tell their URLs.
///
/// ```
/// https://media.lan/art?artist={artist}&album={album}            the cover of an album; 404 if there is none
/// https://media.lan/find?q={artist}%20{album}#/albums/0/cover    a JSON document; the fragment is a JSON Pointer to the cover's URL
/// ```
package struct OwnSource: Sendable, Hashable {
    package let name: SourceName
    /// The scheme and the host.
    let address: String
    /// What follows them.
    private let parts: [Part]
    /// Where the cover's URL is in an answer; nil if the answer is the cover.
    let pointer: JSONPointer?

    /// What is known of an album that a URL may have.
    enum Field: String, CaseIterable {
        case artist, album, mbid

        fileprivate func value(of album: AlbumQuery) -> String? {
            switch self {
            case .artist: album.artist
            case .album: album.title
            case .mbid: album.releaseID
            }
        }
    }

    private enum Part: Sendable, Hashable { case text(String), field(Field) }

    /// Why a name or a pattern cannot be used, as a clause.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let description: String
        fileprivate init(_ description: String) { self.description = description }
    }

    /// - Parameter reserved: Names that mean something else, in lower case.
    /// - Throws: `Problem`.
    package init(name: String, pattern: String, reserved: Set<String> = []) throws(Problem) {
        let isName = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        if name.isEmpty { throw Problem("a name for the service is missing before “=”, such as home=URL") }
        guard isName, name.utf8.count <= 32 else {
            throw Problem("its name “\(name)” may have letters, digits, “-”, “_” and “.”, 32 of them at most")
        }
        if SourceService.all.contains(where: { $0.name.rawValue == name.lowercased() }) {
            throw Problem("“\(name)” is a known service; name it without a URL, or choose another name for yours")
        }
        guard !reserved.contains(name.lowercased()) else {
            throw Problem("“\(name)” means something else here; choose another name")
        }
        self.name = SourceName(rawValue: name)

        let halves = pattern.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = ["https://", "http://"].first { pattern.lowercased().hasPrefix($0) }
        guard let scheme, let location = halves.first else {
            throw Problem(
                pattern.isEmpty ? "a URL is missing after “=”" : "its URL must begin with https:// or http://")
        }
        let rest = location.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?".contains($0) }
        address = scheme + authority
        if authority.contains("@") {
            throw Problem("its URL may have no user name and no password; a key may be one of its parameters")
        }
        guard Self.isHost(address), !authority.contains(where: "{}".contains) else {
            throw Problem("“\(authority)” is no host, with a port if need be; {artist} and others stand behind it only")
        }
        let space = pattern.unicodeScalars.first { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }
        if let space {
            let code = PercentEncoding.encoded(String(space))
            throw Problem("a space or a control character stands in its URL; write it as \(code)")
        }
        parts = try Self.parts(rest.dropFirst(authority.count))
        guard parts.contains(.field(.album)) || parts.contains(.field(.mbid)) else {
            let albums = parts.contains(.field(.artist)) ? "all albums of an artist" : "all albums"
            throw Problem("its URL is the same for \(albums); write {album} or {mbid} where the title or the id stands")
        }
        pointer = try halves.dropFirst().first.map { fragment throws(Problem) in
            guard let pointer = JSONPointer(fragment: fragment) else {
                throw Problem(
                    "“#\(fragment)” is no JSON Pointer, which begins with #/, such as #/albums/0/cover, and has ~0 for “~”"
                )
            }
            return pointer
        }
    }

    private static func isHost(_ address: String) -> Bool {
        // An internationalised name is the client's concern.
        if address.utf8.contains(where: { $0 >= 0x80 }) { return true }
        guard let url = URL(string: address), let host = url.host() else { return false }
        return !host.isEmpty && (url.port.map { (1...65_535).contains($0) } ?? true)
    }

    private static func parts(_ text: Substring) throws(Problem) -> [Part] {
        var (parts, rest): ([Part], Substring) = ([], text)
        while let open = rest.firstIndex(where: "{}".contains) {
            let name = rest[open...].dropFirst().prefix { !"{}".contains($0) }
            guard rest[open] == "{", name.endIndex < rest.endIndex, rest[name.endIndex] == "}",
                let field = Field(rawValue: String(name))
            else {
                let names = Field.allCases.map { "{\($0)}" }.joined(separator: ", ")
                let wrong = rest[open...].prefix(name.count + 2)
                throw Problem("“\(wrong)” is no field: its URL may have \(names); write other braces as %7B and %7D")
            }
            parts += [.text(String(rest[..<open])), .field(field)]
            rest = rest[name.endIndex...].dropFirst()
        }
        return parts + [.text(String(rest))]
    }

    /// The fields that its URLs have.
    var fields: [String] { parts.compactMap { if case .field(let field) = $0 { "{\(field)}" } else { nil } } }

    /// The URL of an album; nil if something is unknown that it needs, or that has another meaning in a path.
    func url(for album: AlbumQuery, at base: String) -> String? {
        var url = base
        for part in parts {
            switch part {
            case .text(let text): url += text
            case .field(let field):
                guard let value = field.value(of: album), !value.allSatisfy(\.isWhitespace), value != ".", value != ".."
                else { return nil }
                url += PercentEncoding.encoded(value)
            }
        }
        return url
    }
}
