import Platform

/// The resource of a path that is not one of the archive's.
enum Resource: Sendable, Equatable {
    case help
    case jpeg(Int)
    case png(Int)
    /// A starter album's cover. A slug that no starter album has identifies a generated cover.
    case starter(slug: String)

    /// Returns nil if the path identifies no resource.
    init?(path: Substring) {
        if path == "/" {
            self = .help
        } else if path.hasPrefix("/covers/"), let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) {
            let digits = path.utf8[path.utf8.index(path.startIndex, offsetBy: 8)..<dot]
            // `Int` also accepts a sign.
            guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(Substring(digits))
            else { return nil }
            switch path[dot...] {
            case ".jpg", ".jpeg": self = .jpeg(number)
            case ".png": self = .png(number)
            default: return nil
            }
        } else if path.hasPrefix("/starter/"), path.hasSuffix(".jpg") {
            let slug = path.dropFirst(9).dropLast(4)
            guard (1...100).contains(slug.utf8.count), slug.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
                return nil
            }
            self = .starter(slug: String(slug))
        } else {
            return nil
        }
    }
}
