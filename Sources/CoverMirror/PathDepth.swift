import Platform

/// How deep a path leads below the folder it begins in, for every way in which servers read paths.
///
/// Servers disagree on whether `%2F` and a backslash separate segments, whether `%2E` is a dot, and whether a segment ends at a
/// semicolon. What is encoded twice stays text.
enum PathDepth {
    /// Whether no server can take the path of a request target for one outside the folder that the path is appended to.
    static func staysInside(_ target: String) -> Bool {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        var depth = 0
        for segment in path.split(separator: UInt8(ascii: "/")) {
            let (change, lowest) = effect(of: Array(segment))
            if depth + lowest < 0 { return false }
            depth += change
        }
        return true
    }

    /// How a segment changes the depth, and how far it leads upwards meanwhile, in the worst case.
    private static func effect(of segment: [UInt8]) -> (change: Int, lowest: Int) {
        let parts = PercentEncoding.decoded(segment).split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
        }
        var (change, lowest) = (0, 0)
        for part in parts {
            switch part.prefix(while: { $0 != UInt8(ascii: ";") }) {
            case let name where name.elementsEqual("..".utf8): change -= 1
            case let name where name.isEmpty || name.elementsEqual(".".utf8): break
            default: change += 1
            }
            lowest = min(lowest, change)
        }
        // A server that decodes nothing sees one segment.
        return (min(change, 1), lowest)
    }
}
