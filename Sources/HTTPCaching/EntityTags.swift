/// The entity tags of an `If-None-Match`, compared weakly (RFC 9110 §8.8.3.2, §13.1.2).
package struct EntityTags {
    private var opaque: Set<Substring> = []
    private var isAny = false

    package init(_ values: [String]) {
        for value in values {
            var rest = value[...]
            while true {
                rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
                if rest.isEmpty { break }
                if rest.hasPrefix("W/") || rest.hasPrefix("w/") { rest = rest.dropFirst(2) }
                // A quoted tag may hold commas.
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

    package func contain(_ tag: String) -> Bool {
        let isWeak = tag.hasPrefix("W/") || tag.hasPrefix("w/")
        return isAny || opaque.contains(isWeak ? tag.dropFirst(2) : tag[...])
    }
}
