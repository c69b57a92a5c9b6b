import CStarterCovers
import HummingbirdCore
import NIOCore

/// What a path names.
enum Resource: Sendable, Equatable {
    case help
    case jpeg(Int)
    case png(Int)
    case starter(String)

    /// The resource at `path`; nil: there is none.
    init?(path: Substring) {
        if path == "/" {
            self = .help
        } else if path.hasPrefix("/covers/"), let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) {
            let digits = path.utf8[path.utf8.index(path.startIndex, offsetBy: 8)..<dot]
            guard let number = Self.number(digits) else { return nil }
            switch path[dot...] {
            case ".jpg", ".jpeg": self = .jpeg(number)
            case ".png": self = .png(number)
            default: return nil
            }
        } else if path.hasPrefix("/starter/"), path.hasSuffix(".jpg") {
            let slug = path.dropFirst(9).dropLast(4)
            guard (1...100).contains(slug.utf8.count), slug.utf8.allSatisfy(Self.isUnreserved) else { return nil }
            self = .starter(String(slug))
        } else {
            return nil
        }
    }

    /// Digits only: `Int` would also take a sign.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(Substring(digits))
    }

    /// RFC 3986's unreserved characters.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// The bytes of a resource with what HTTP says about them.
struct Representation: Sendable {
    let bytes: ByteBuffer
    let type: String
    /// A strong entity tag with its quotes: the same bytes always have the same.
    let tag: String
    /// Seconds since 1970; decided by the cover, not by when the origin started.
    let modified: Int
}

/// Makes representations.
struct Studio: Sendable {
    func representation(of resource: Resource, _ wishes: Wishes) -> Representation {
        switch resource {
        case .help:
            return Representation(
                bytes: ByteBuffer(string: HelpPage.text), type: "text/plain; charset=utf-8", tag: "\"help\"",
                modified: Self.firstModified)
        case .jpeg(let number):
            let number = wishes.same ?? number
            let bytes = CoverImage.parts(number: number, size: wishes.size).joined()
            let description = Self.description(of: number, length: bytes.readableBytes)
            return Representation(
                bytes: bytes, type: "image/jpeg", tag: description.tag, modified: description.modified)
        case .png(let number):
            let number = wishes.same ?? number
            let bytes = ByteBuffer(bytes: CoverImage.png(number: number, aboutBytes: wishes.size ?? 0))
            return Self.make(bytes, "image/png", name: "p\(number)", UInt64(number))
        case .starter(let slug):
            let seed = SplitMix.seed(slug)
            guard wishes.same == nil, wishes.size == nil, let bytes = Self.starterCover(slug) else {
                return representation(of: .jpeg(Int(seed >> 1)), wishes)
            }
            return Self.make(bytes, "image/jpeg", name: "s\(slug)", seed)
        }
    }

    /// The validators of a generated JPEG.
    static func description(of number: Int, length: Int) -> (tag: String, modified: Int) {
        (tag: "\"c\(number)-\(length)\"", modified: modified(UInt64(number)))
    }

    private static func make(_ bytes: ByteBuffer, _ type: String, name: String, _ seed: UInt64) -> Representation {
        Representation(
            bytes: bytes, type: type, tag: "\"\(name)-\(bytes.readableBytes)\"",
            modified: modified(seed))
    }

    /// 2020-01-01; the covers were changed in the three years after it.
    private static let firstModified = 1_577_836_800

    private static func modified(_ seed: UInt64) -> Int {
        firstModified + Int(SplitMix.scramble(seed) % 100_000_000)
    }

    /// The embedded cover of a starter album; nil: no starter album has this slug.
    private static func starterCover(_ slug: String) -> ByteBuffer? {
        let cover = sleeve_find_starter_cover(slug)
        guard let bytes = cover.bytes else { return nil }
        return ByteBuffer(bytes: UnsafeBufferPointer(start: bytes, count: cover.length))
    }
}
