/// A line among an entry's fields that Sleeve adds itself. Its name contains a space, which no header field's name does.
enum EntryAnnotation: Sendable, Hashable {
    /// The image's bytes stop before its end.
    case incompleteImage
    /// The entry's server failed to answer a revalidation, in milliseconds since 1970.
    case triedAt(Int64)
    /// The URL as it is requested, if it is not the key.
    case requestURL(String)
    /// The request had credentials, so the response is not for others.
    case credentials

    private var name: String {
        switch self {
        case .incompleteImage: "image incomplete"
        case .triedAt: "tried at"
        case .requestURL: "request URL"
        case .credentials: "with credentials"
        }
    }

    private var value: String {
        switch self {
        case .incompleteImage, .credentials: "yes"
        case .triedAt(let time): String(time)
        case .requestURL(let value): value
        }
    }

    /// The annotation as a line of `EntryMetadata.fields`, its line feed included.
    var line: String { "\(name): \(value)\n" }

    private init?(name: String, value: String) {
        switch name {
        case "image incomplete": self = .incompleteImage
        // A pack or a damaged index holds any number.
        case "tried at": self = .triedAt(min(max(Int64(value) ?? 0, 0), 1 << 48))
        case "request URL": self = .requestURL(value)
        case "with credentials": self = .credentials
        default: return nil
        }
    }

    /// Whether `fields` say that the image is complete, or do not say that it is not.
    static func isImageComplete(_ fields: String) -> Bool { !all(in: fields).contains(.incompleteImage) }

    /// Whether `fields` say that the request had credentials.
    static func haveCredentials(_ fields: String) -> Bool { all(in: fields).contains(.credentials) }

    /// The annotations among the lines of `fields`, in order. Unknown ones are left out.
    static func all(in fields: String) -> [EntryAnnotation] {
        fields.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].contains(UInt8(ascii: " ")) else {
                return nil
            }
            return EntryAnnotation(
                name: String(Substring(line[..<colon])), value: String(Substring(line[colon...].dropFirst(2))))
        }
    }
}
