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
        guard isName, (1...32).contains(name.utf8.count) else {
            throw Problem("the name of a service of your own has up to 32 letters, digits, “-”, “_” and “.”")
        }
        let names = reserved.union(SourceService.all.map(\.name.rawValue))
        guard !names.contains(name.lowercased()) else { throw Problem("“\(name)” is taken; choose another name") }
        self.name = SourceName(rawValue: name)

        let halves = pattern.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = ["https://", "http://"].first { pattern.lowercased().hasPrefix($0) }
        guard let scheme, let location = halves.first else { throw Problem("its URL begins with https:// or http://") }
        let rest = location.dropFirst(scheme.count)
        let authority = rest.prefix { !"/?".contains($0) }
        address = scheme + authority
        guard Self.isHost(address), !authority.contains(where: "{}".contains) else {
            throw Problem("its URL needs a host, without a field such as {artist} in its name")
        }
        if authority.contains("@") { throw Problem("a URL with a user name or a password is refused") }
        if location.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }
        ) {
            throw Problem("write a space of its URL as %20")
        }
        parts = try Self.parts(rest.dropFirst(authority.count))
        guard parts.contains(.field(.album)) || parts.contains(.field(.mbid)) else {
            throw Problem("without {album} or {mbid}, its URL is the same for all albums")
        }
        pointer = try halves.dropFirst().first.map { fragment throws(Problem) in
            guard let pointer = JSONPointer(fragment: fragment) else {
                throw Problem("what follows # is a JSON Pointer, such as #/albums/0/cover")
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
                throw Problem("its URL may have \(names); write other braces as %7B and %7D")
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
