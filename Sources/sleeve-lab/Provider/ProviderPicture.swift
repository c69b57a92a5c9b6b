import HTTPTypes
import OriginServer
import Platform

/// A picture of the imitated services, at `/SERVICE/pictures/KIND-NUMBER/SIDExSIDE….jpg`. Each has bytes of its own, so that a test can tell
/// whose it is.
struct ProviderPicture {
    enum Kind: String { case cover, wrong }

    var service: Provider.Service
    var kind: Kind
    /// The index of the album.
    var number: Int
    /// The longest side, in pixels; nil for an original.
    var side: Int?

    init(_ service: Provider.Service, _ kind: Kind, _ number: Int, side: Int? = nil) {
        (self.service, self.kind, self.number, self.side) = (service, kind, number, side)
    }

    /// - Parameter parts: the path after `/SERVICE/pictures/`.
    init?(_ service: Provider.Service, path parts: [Substring]) {
        guard parts.count == 2, let dash = parts[0].firstIndex(of: "-"),
            let kind = Kind(rawValue: String(parts[0][..<dash])),
            let number = Int(parts[0][dash...].dropFirst())
        else { return nil }
        self.init(service, kind, number, side: Int(parts[1].prefix { $0.isNumber }))
    }

    /// The path of the size that the search result names: iTunes' 100x100bb.jpg, Deezer's names with more numbers.
    func path(_ suffix: String) -> String {
        let size = side.map { "\($0)x\($0)" } ?? "original"
        return "/\(service.rawValue)/pictures/\(kind.rawValue)-\(number)/\(size)\(suffix)"
    }

    /// A white PNG of 600 by 600 pixels.
    static let plain = Array(
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAlgAAAJYAQAAAACWHaVxAAAAtklEQVR42u3MMQ0AAAwDoPo33ZpYsgcEkN6Jy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwu18M1nqEiemOHnqAAAAAASUVORK5CYII=
                """) ?? Data())

    /// A JPEG of about as many bytes as pictures of its size have.
    var bytes: [UInt8] {
        let service = Provider.Service.allCases.firstIndex(of: service) ?? 0
        let unique = (number * 8 + service) * 2 + (kind == .wrong ? 1 : 0)
        return CoverImage.jpeg(number: unique, aboutBytes: 1_000 + (side ?? 2_000) * 20)
    }
}
