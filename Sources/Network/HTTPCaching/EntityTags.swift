/// The entity tags of `If-None-Match`, compared weakly (RFC 9110 sections 8.8.3.2 and 13.1.2).
package struct EntityTags {
    private var opaque: Set<Substring> = []
    private var isAny = false

    /// - Parameter values: of each line of the field.
    package init(_ values: [String]) {
        for value in values {
            var rest = value[...]
            while true {
                rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
                if rest.isEmpty { break }
                rest = Self.opaque(rest)
                // A quoted tag may contain commas.
                let end =
                    rest.first == "\""
                    ? rest.dropFirst().firstIndex(of: "\"").map { rest.index(after: $0) } : rest.firstIndex(of: ",")
                var tag = rest[..<(end ?? rest.endIndex)]
                rest = rest[tag.endIndex...]
                while tag.last == " " || tag.last == "\t" { tag.removeLast() }
                if tag == "*" { isAny = true } else { opaque.insert(tag) }
            }
        }
    }

    package func contains(_ tag: String) -> Bool { isAny || opaque.contains(Self.opaque(tag[...])) }

    /// The tag without the mark of a weak one.
    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") || tag.hasPrefix("w/") ? tag.dropFirst(2) : tag
    }
}
