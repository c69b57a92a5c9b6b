import Platform

/// The query of a search, as each service reads it.
struct ProviderQuery {
    private var parameters: [String: String] = [:]

    init(_ query: Substring) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            let value = parts.dropFirst().first.map { String($0).map { $0 == "+" ? " " : String($0) }.joined() } ?? ""
            parameters[String(parts[0])] = String(decoding: PercentEncoding.decoded(value.utf8), as: UTF8.self)
        }
    }

    func matches(_ album: ProviderAlbum, _ service: Provider.Service) -> Bool {
        switch service {
        case .musicbrainz, .caa:
            let fields = Self.fields(parameters["query"] ?? "", escape: "\\")
            if let id = fields["reid"] { return album.releaseID == id }
            return fields["release"] != nil
                && album.matches(artist: fields["artist"] ?? "", title: fields["release"] ?? "")
        case .itunes: return parameters["term"].map { !$0.isEmpty && album.matches($0) } ?? false
        case .deezer:
            let fields = Self.fields(parameters["q"] ?? "", escape: nil)
            return fields["album"] != nil && album.matches(artist: fields["artist"] ?? "", title: fields["album"] ?? "")
        }
    }

    /// `release:"A \"B\"" AND artist:"C"` as fields. - Parameter escape: makes a quotation mark a part of a phrase.
    private static func fields(_ text: String, escape: Character?) -> [String: String] {
        var (fields, rest) = ([String: String](), text[...])
        while let colon = rest.firstIndex(of: ":") {
            let name = rest[..<colon].split(separator: " ").last.map(String.init) ?? ""
            rest = rest[rest.index(after: colon)...]
            guard rest.first == "\"" else {
                fields[name] = String(rest.prefix { $0 != " " })
                continue
            }
            var value = ""
            rest.removeFirst()
            while let character = rest.popFirst(), character != "\"" {
                value.append(character == escape ? rest.popFirst() ?? character : character)
            }
            fields[name] = value
        }
        return fields
    }
}
